/** `POST /push-api/push`, and the same in v3: submits a notification to tags. */

import { createHash } from 'node:crypto';
import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { tooMuch } from '../../http/beyond-limit.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, json } from '../../http/json-body.ts';
import { prefersJson } from '../../http/negotiation.ts';
import type { Fault } from '../../http/problem.ts';
import { problem } from '../../http/problem.ts';
import { tooManyTemplates } from '../../http/too-many-templates.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import type { Accept, Acceptance, DryRun } from '../accept/accept.ts';
import { warningsOf } from '../accept/warnings.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';
import { jobsPathOf } from './job.ts';
import { limitPush } from './limit-push.ts';
import { readPushRequest } from './push-request.ts';

/**
 * internals/interface.md, "Notification API".
 * @publisherLimit characters of an `Idempotency-Key`, which is kept for 24 h → `400`; later the key
 * is free again
 */
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;

export function pushRoute(accept: Accept, sql: Sql): ApiRoute {
  return {
    operation: 'push',
    api: 'notification',
    needs: 'send',
    rate: 'pushes',
    method: 'POST',
    path: '/push-api/push',
    bodyBytesMax: BODY_BYTES_MAX,
    handle: (request, caller) => push(accept, sql, request, caller, asIsPreferred),
  };
}

/** In v3: what is accepted is answered 202, with where it is to be found. */
export const pushJob = (
  accept: Accept,
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> =>
  push(accept, sql, request, caller, (_request, accepted) => {
    const answer = json(shown(accepted));
    const location = `${jobsPathOf(caller.clientSlug)}/${accepted.id}`;
    return { ...answer, status: 202, headers: { ...answer.headers, Location: location } };
  });

type Accepted = Extract<Acceptance, { readonly kind: 'accepted' }>;
/** The answer to a push that was accepted. */
type Confirm = (request: HttpRequest, accepted: Accepted) => HttpResponse;

async function push(
  accept: Accept,
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
  confirm: Confirm,
): Promise<HttpResponse> {
  const read = readPushRequest(request.body);
  const keyFaults = idempotencyKeyFaults(request);
  if (!read.ok) return invalid(request, [...keyFaults, ...read.faults]);
  if (keyFaults.length > 0) return invalid(request, keyFaults);
  const key = request.header('idempotency-key');
  const pastFaults = endFaults(read.push.expiresAtMs);
  const limited = await limitPush(sql, caller, read.push);
  if (!limited.ok) return problem(request.requestId, 403, limited.why);
  const devicesMax = caller.key?.maxDevices ?? null;
  if (read.isDryRun || devicesMax !== null) {
    const dryRun = await accept.dryRun(limited.push, caller.clientId, pastFaults);
    if (read.isDryRun || dryRun.kind !== 'counted') return dryRunAnswer(request, dryRun);
    const devices = dryRun.audience.reduce((sum, { count }) => sum + count, 0);
    if (devicesMax !== null && devices > devicesMax) {
      const why = `This push is for ${devices} devices, and this key for ${devicesMax} at most.`;
      return problem(request.requestId, 403, why);
    }
  }
  const bodyHash = createHash('sha256').update(request.body).digest();
  const publisher = {
    requestId: request.requestId,
    traceparent: request.header('traceparent'),
    clientId: caller.clientId,
    userName: caller.userName,
    idempotency: key === '' ? null : { key: idempotencyKeyOf(caller, key), bodyHash },
    limits: caller.limits ?? {},
  };
  const acceptance = await accept.submit(limited.push, publisher, pastFaults);
  return acceptanceAnswer(request, acceptance, confirm);
}

/** An empty key is a mistake: without a key, a repeated request would send again. */
function idempotencyKeyFaults(request: HttpRequest): readonly Fault[] {
  const { length } = request.header('idempotency-key');
  const isFit = length > 0 && length <= IDEMPOTENCY_KEY_LENGTH_MAX;
  if (isFit || !request.hasHeader('idempotency-key')) return [];
  const message = `must have 1–${IDEMPOTENCY_KEY_LENGTH_MAX} characters.`;
  return [{ path: 'Idempotency-Key', message }];
}

/** What the time alone makes wrong. */
export const endFaults = (expiresAtMs: number | null): readonly Fault[] =>
  expiresAtMs !== null && expiresAtMs <= Date.now()
    ? [{ path: 'expiresAt', message: 'must not be in the past.' }]
    : [];

/** The id as text, for the callers of the public service. */
function asIsPreferred(request: HttpRequest, accepted: Accepted): HttpResponse {
  if (prefersJson(request.header('accept'))) return json(shown(accepted));
  return { status: 200, headers: { 'Content-Type': 'text/plain' }, body: accepted.id };
}

const shown = ({ id, state, unknownTags, warnings }: Accepted): object => ({
  id,
  state,
  unknownTags,
  ...shownWarnings(warnings),
});

/** Absent: none. */
export const shownWarnings = (warnings: readonly string[]) =>
  warnings.length === 0 ? {} : { warnings };

function acceptanceAnswer(
  request: HttpRequest,
  acceptance: Acceptance,
  confirm: Confirm,
): HttpResponse {
  switch (acceptance.kind) {
    case 'invalid':
      return invalid(request, acceptance.faults);
    case 'over-limit':
      return tooMuch(request.requestId, acceptance.over);
    case 'key-reused':
      return problem(
        request.requestId,
        422,
        'This Idempotency-Key was used before with another body.',
      );
    case 'too-many-templates':
      return tooManyTemplates(request);
    case 'accepted':
      return { ...confirm(request, acceptance), notificationId: acceptance.id };
  }
}

function dryRunAnswer(request: HttpRequest, dryRun: DryRun): HttpResponse {
  if (dryRun.kind === 'invalid') return invalid(request, dryRun.faults);
  if (dryRun.kind === 'busy') return tooMuchCounted(request);
  if (dryRun.kind === 'too-many-templates') return tooManyTemplates(request);
  const { audience, unknownTags, payload, templated } = dryRun;
  const warnings = shownWarnings(warningsOf(audience, payload, templated));
  return json({ dryRun: true, audience, unknownTags, ...warnings });
}
