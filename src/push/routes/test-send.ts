/** `POST …/notifications/test`: one message to one device, answered with the provider's answer. */

import { z } from 'zod';
import type { Sql } from '../../database/sql.ts';
import { limitsTags } from '../../domain/caller.ts';
import { normalizeDeviceId, scopeKeyOf } from '../../domain/device.ts';
import type { Payload } from '../../domain/notification.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { givenPayload, sendablePayload } from '../../domain/payload.ts';
import { isPassedOnIn } from '../../domain/payload-digits.ts';
import { shown } from '../../http/answers.ts';
import { deviceId } from '../../http/device-id-form.ts';
import type { Body } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { id } from '../../http/id-form.ts';
import { readForm } from '../../http/json-body.ts';
import type { Result } from '../../http/result.ts';
import { done, refuse, refused } from '../../http/result.ts';
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
import { sends } from './job.ts';
import { payloadOrText } from './payload-schema.ts';
import { shownWarnings } from './push.ts';
import { warnings } from './push-schemas.ts';

const PAYLOAD = 'must be an object, or a string that holds one as JSON';
const testForm = strictForm({
  appId: id,
  platformId: id,
  deviceId: deviceId.meta({ description: 'As its app registers it.' }),
  payload: z.custom<unknown>((value) => value !== undefined, PAYLOAD),
});

const NO_SCOPE = refused(404, 'This client has no such app on this platform.');
/** The client has just tried one. */
const TOO_MANY = refused(429, 'A client may try one message a second.', {
  headers: { 'Retry-After': '1' },
});
/** Those under way have ten seconds. */
const BUSY = refused(503, 'Too many messages are being tried. Try again.', {
  headers: { 'Retry-After': '5' },
});

interface TestSendParts {
  readonly testSends: TestSends;
  readonly evaluator: Evaluator;
  readonly sql: Sql;
}

const BODY: Body<z.infer<typeof testForm>> = {
  schema: testForm.extend({ payload: payloadOrText }),
  example: { appId: 1, platformId: 3, deviceId: 'ab'.repeat(32), payload: { title: 'A trial' } },
  read: ({ body }) => readForm(body, testForm, isPassedOnIn('payload')),
};
const providerAnswer = z.object({
  accepted: z.boolean(),
  outcome: z.string().optional(),
  reason: z.string().optional(),
  meaning: z.string().optional().meta({ description: 'Of the reason, where it is known.' }),
  simulated: z.literal(true).optional(),
  warnings,
});

export const testRoute = (parts: TestSendParts): Route =>
  sends.post(
    'testNotification',
    {
      at: 'test',
      summary: 'Send one message to one device',
      description:
        'Registered or not. It is no job, counts nowhere, and goes out in the default language. A refusal is `200` too: `accepted` is false then. An answer is waited for ten seconds: `NoAnswerInTime` means that nobody knows whether the device got it. One a second for a client, else `429`; too many under way: `503`. A key that is limited to tags or groups: `403`.',
      body: BODY,
      answer: shown('What the provider answered.', providerAnswer, {
        accepted: true,
        simulated: true,
      }),
      problems: [400, 404, 429],
    },
    async ({ caller: { clientId, key }, body: { appId, platformId, deviceId, payload } }) => {
      // Which tags the device has is not asked: it may have none yet.
      const isOutside =
        key !== undefined && (limitsTags(key) || key.appIds?.includes(appId) === false);
      if (isOutside) return refuse.outside();
      const scopes = await listScopes(parts.sql, clientId);
      const scope = scopes.find((one) => one.appId === appId && one.platformId === platformId);
      if (scope === undefined) return NO_SCOPE;
      const content = await contentFor(scope, clientId, payload, parts);
      if (!content.ok) return content;
      const result = await parts.testSends.run({
        clientId,
        appId,
        platformId,
        deviceId: normalizeDeviceId(platformId, deviceId),
        payload: content.value,
      });
      switch (result.kind) {
        case 'answered':
          return done(
            {
              ...answerOf(result.outcome, result.isSimulated),
              ...shownWarnings(warningsOf([scope], content.value, null)),
            },
            { steps: result.steps },
          );
        case 'too-many':
          return TOO_MANY;
        case 'busy':
          return BUSY;
      }
    },
  );

/** The content that a push to this (app, platform) would have. */
async function contentFor(
  scope: ClientScope,
  clientId: number,
  payload: unknown,
  { evaluator, sql }: Pick<TestSendParts, 'evaluator' | 'sql'>,
): Promise<Result<Payload>> {
  const given = givenPayload(payload);
  if (!given.ok) return refuse.invalid(given.faults);
  const template = scope.hasTemplate ? await readTemplate(sql, scope) : null;
  if (template !== null) {
    const applied = await applyTemplates(evaluator, clientId, given.given, [
      { ...scope, expression: template.expression },
    ]);
    if (applied.kind === 'busy') return refuse.tooManyTemplates;
    if (applied.kind === 'invalid') return refuse.invalid(applied.faults);
    const made = applied.payloads[scopeKeyOf(scope)];
    if (made === undefined) throw new Error('a template has made nothing, without a fault');
    return done(made);
  }
  const sendable = sendablePayload(given.given);
  if (!sendable.ok) return refuse.invalid(sendable.faults);
  const faults = payloadFaults(sendable.payload, [scope.platformId]);
  return faults.length > 0 ? refuse.invalid(faults) : done(sendable.payload);
}

function answerOf(outcome: Outcome, isSimulated: boolean) {
  const simulated = isSimulated ? { simulated: true as const } : {};
  if (outcome.kind === 'delivered') return { accepted: true, ...simulated };
  const { kind, reason } = outcome;
  const meaning = (isSimulated ? simulatedFaultSentence : faultSentence)(reason);
  return { accepted: false, outcome: kind, reason, meaning, ...simulated };
}
