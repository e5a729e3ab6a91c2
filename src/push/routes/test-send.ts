/** `POST …/notifications/test`: one message to one device, answered with the provider's answer. */

import { z } from 'zod';
import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { limitsTags } from '../../domain/caller.ts';
import {
  DEVICE_ID_LENGTH_MAX,
  isDeviceId,
  normalizeDeviceId,
  scopeKeyOf,
} from '../../domain/device.ts';
import type { Payload } from '../../domain/notification.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { givenPayload, sendablePayload } from '../../domain/payload.ts';
import { isPassedOnIn } from '../../domain/payload-digits.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { id } from '../../http/id-form.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { outside } from '../../http/outside.ts';
import type { Fault } from '../../http/problem.ts';
import { problem } from '../../http/problem.ts';
import { tooManyTemplates } from '../../http/too-many-templates.ts';
import { faultSentence, simulatedFaultSentence } from '../../providers/fault-sentence.ts';
import { payloadFaults } from '../../providers/payload-size.ts';
import type { TestSends } from '../../providers/test-sends.ts';
import { strictForm } from '../../std/strict-form.ts';
import { applyTemplates } from '../../templates/apply-templates.ts';
import type { Evaluator } from '../../templates/evaluator.ts';
import { readTemplate } from '../../templates/templates.ts';
import { warningsOf } from '../accept/warnings.ts';
import type { ClientScope } from '../sql/notifications/list-scopes.ts';
import { listScopes } from '../sql/notifications/list-scopes.ts';
import { shownWarnings } from './push.ts';

const PAYLOAD = 'must be an object, or a string that holds one as JSON';
const DEVICE_ID = `must be a string of 1–${DEVICE_ID_LENGTH_MAX} characters, without NUL`;
export const testForm = strictForm({
  appId: id,
  platformId: id,
  deviceId: z.custom<string>(isDeviceId, DEVICE_ID),
  payload: z.custom<unknown>((value) => value !== undefined, PAYLOAD),
});

/** The client has just tried one. */
const TOO_MANY_RETRY_SECONDS = '1';
/** Those under way have ten seconds. */
const BUSY_RETRY_SECONDS = '5';

interface TestSendParts {
  readonly testSends: TestSends;
  readonly evaluator: Evaluator;
  readonly sql: Sql;
}

export async function sendTest(
  { testSends, evaluator, sql }: TestSendParts,
  request: HttpRequest,
  { clientId, key }: Caller,
): Promise<HttpResponse> {
  const read = readJsonBody(request, testForm, { isKept: isPassedOnIn('payload') });
  if (!read.ok) return read.response;
  const { appId, platformId, deviceId } = read.value;
  // Which tags the device has is not asked: it may have none yet.
  const isOutside = key !== undefined && (limitsTags(key) || key.appIds?.includes(appId) === false);
  if (isOutside) return outside(request);
  const scopes = await listScopes(sql, clientId);
  const scope = scopes.find((one) => one.appId === appId && one.platformId === platformId);
  if (scope === undefined) {
    return problem(request.requestId, 404, 'This client has no such app on this platform.');
  }
  const content = await contentFor(scope, clientId, read.value.payload, { evaluator, sql });
  if (content.kind === 'busy') return tooManyTemplates(request);
  if (content.kind === 'invalid') return invalid(request, content.faults);
  const result = await testSends.run({
    clientId,
    appId,
    platformId,
    deviceId: normalizeDeviceId(platformId, deviceId),
    payload: content.payload,
  });
  switch (result.kind) {
    case 'answered':
      return {
        ...json({
          ...answerOf(result.outcome, result.isSimulated),
          ...shownWarnings(warningsOf([scope], content.payload, null)),
        }),
        steps: result.steps,
      };
    case 'too-many':
      return problem(request.requestId, 429, 'A client may try one message a second.', {
        headers: { 'Retry-After': TOO_MANY_RETRY_SECONDS },
      });
    case 'busy':
      return problem(request.requestId, 503, 'Too many messages are being tried. Try again.', {
        headers: { 'Retry-After': BUSY_RETRY_SECONDS },
      });
  }
}

type Content =
  | { readonly kind: 'fit'; readonly payload: Payload }
  | { readonly kind: 'invalid'; readonly faults: readonly Fault[] }
  | { readonly kind: 'busy' };

/** As a push to this (app, platform) would have it. */
async function contentFor(
  scope: ClientScope,
  clientId: number,
  payload: unknown,
  { evaluator, sql }: Pick<TestSendParts, 'evaluator' | 'sql'>,
): Promise<Content> {
  const given = givenPayload(payload);
  if (!given.ok) return { kind: 'invalid', faults: given.faults };
  const template = scope.hasTemplate ? await readTemplate(sql, scope) : null;
  if (template !== null) {
    const applied = await applyTemplates(evaluator, clientId, given.given, [
      { ...scope, expression: template.expression },
    ]);
    if (applied.kind !== 'made') return applied;
    const made = applied.payloads[scopeKeyOf(scope)];
    if (made === undefined) throw new Error('a template has made nothing, without a fault');
    return { kind: 'fit', payload: made };
  }
  const sendable = sendablePayload(given.given);
  if (!sendable.ok) return { kind: 'invalid', faults: sendable.faults };
  const faults = payloadFaults(sendable.payload, [scope.platformId]);
  if (faults.length > 0) return { kind: 'invalid', faults };
  return { kind: 'fit', payload: sendable.payload };
}

function answerOf(outcome: Outcome, isSimulated: boolean) {
  const simulated = isSimulated ? { simulated: true } : {};
  if (outcome.kind === 'delivered') return { accepted: true, ...simulated };
  const { kind, reason } = outcome;
  const meaning = (isSimulated ? simulatedFaultSentence : faultSentence)(reason);
  return { accepted: false, outcome: kind, reason, meaning, ...simulated };
}
