/** `POST …/notifications/test`: one message to one device, answered with the provider's answer. */

import { z } from 'zod';
import type { Caller } from '../../access/caller.ts';
import type { PlatformId } from '../../domain/device.ts';
import { DEVICE_ID_LENGTH_MAX, isDeviceId, normalizeDeviceId } from '../../domain/device.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { PayloadResult } from '../../domain/payload.ts';
import { parsePayload, showsNothing } from '../../domain/payload.ts';
import { ID_MAX } from '../../domain/tag.ts';
import { faultSentence, simulatedFaultSentence } from '../../providers/fault-sentence.ts';
import { payloadFaults } from '../../providers/payload-size.ts';
import type { TestSends } from '../../providers/test-sends.ts';
import { strictForm } from '../../std/strict-form.ts';
import { listScopes } from '../../store/notifications/list-scopes.ts';
import type { Sql } from '../../store/sql.ts';
import type { HttpRequest, HttpResponse } from '../handler.ts';
import { invalid, json, readJsonBody } from '../json-body.ts';
import { limitsTags, outside } from '../key-limits.ts';
import type { Fault } from '../problem.ts';
import { problem } from '../problem.ts';
import { PAYLOAD_EMPTY } from './push-request.ts';

const id = z.int('must be an id').min(1, 'must be an id').max(ID_MAX, 'must be an id');
const DEVICE_ID = `must be a string of 1–${DEVICE_ID_LENGTH_MAX} characters, without NUL`;
export const testForm = strictForm({
  appId: id,
  platformId: id,
  deviceId: z.custom<string>(isDeviceId, DEVICE_ID),
  payload: z.unknown().optional(),
});

/** The client has just tried one. */
const TOO_MANY_RETRY_SECONDS = '1';
/** Those under way have ten seconds. */
const BUSY_RETRY_SECONDS = '5';

export async function sendTest(
  tests: TestSends,
  sql: Sql,
  request: HttpRequest,
  { clientId, key }: Caller,
): Promise<HttpResponse> {
  const read = readJsonBody(request, testForm);
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
  const payload = parsePayload(read.value.payload);
  const faults = faultsOf(payload, scope.platformId);
  if (!payload.ok || faults.length > 0) return invalid(request, faults);
  const result = await tests.run({
    clientId,
    ...scope,
    deviceId: normalizeDeviceId(platformId, deviceId),
    payload: payload.payload,
  });
  switch (result.kind) {
    case 'answered':
      return json(answerOf(result.outcome, result.isSimulated));
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

function faultsOf(payload: PayloadResult, platformId: PlatformId): readonly Fault[] {
  if (!payload.ok) return payload.faults;
  if (showsNothing(payload.payload)) return [{ path: 'payload', message: PAYLOAD_EMPTY }];
  return payloadFaults(payload.payload, [platformId]);
}

function answerOf(outcome: Outcome, isSimulated: boolean) {
  const simulated = isSimulated ? { simulated: true } : {};
  if (outcome.kind === 'delivered') return { accepted: true, ...simulated };
  const { kind, reason } = outcome;
  const meaning = (isSimulated ? simulatedFaultSentence : faultSentence)(reason);
  return { accepted: false, outcome: kind, reason, meaning, ...simulated };
}
