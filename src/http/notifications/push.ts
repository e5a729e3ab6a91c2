/** `POST /push-api/push`: submits a notification to tags. */

import { createHash } from 'node:crypto';
import type { Caller } from '../../access/caller.ts';
import type { Accept, Acceptance, DryRun } from '../../fan-out/accept.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../handler.ts';
import { BODY_BYTES_MAX } from '../handler.ts';
import { invalid, json } from '../json-body.ts';
import { problem } from '../problem.ts';
import { readPushRequest } from './push-request.ts';

/** spec/interface.md, section 4. */
const IDEMPOTENCY_KEY_LENGTH_MAX = 255;

export function pushRoute(accept: Accept): ApiRoute {
  return {
    api: 'notification',
    method: 'POST',
    path: '/push-api/push',
    bodyBytesMax: BODY_BYTES_MAX,
    handle: (request, caller) => push(accept, request, caller),
  };
}

async function push(accept: Accept, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const read = readPushRequest(request.body);
  if (!read.ok) return invalid(request, read.faults);
  const key = request.header('idempotency-key');
  if (key.length > IDEMPOTENCY_KEY_LENGTH_MAX) {
    const message = `must have 1–${IDEMPOTENCY_KEY_LENGTH_MAX} characters.`;
    return invalid(request, [{ path: 'Idempotency-Key', message }]);
  }
  if (read.isDryRun) {
    return dryRunAnswer(request, await accept.dryRun(read.push, caller.clientId));
  }
  const bodyHash = createHash('sha256').update(request.body).digest();
  const acceptance = await accept.submit(read.push, {
    clientId: caller.clientId,
    userName: caller.userName,
    idempotency: key === '' ? null : { key, bodyHash },
  });
  return acceptanceAnswer(request, acceptance);
}

function acceptanceAnswer(request: HttpRequest, acceptance: Acceptance): HttpResponse {
  switch (acceptance.kind) {
    case 'invalid':
      return invalid(request, acceptance.faults);
    case 'key-reused':
      return problem(request.requestId, 422, 'This Idempotency-Key came before with another body.');
    case 'accepted': {
      const { id, state, unknownTags } = acceptance;
      if (!request.header('accept').includes('application/json')) {
        return { status: 200, headers: { 'Content-Type': 'text/plain' }, body: id };
      }
      return json({ id, state, unknownTags });
    }
  }
}

function dryRunAnswer(request: HttpRequest, dryRun: DryRun): HttpResponse {
  if (dryRun.kind === 'invalid') return invalid(request, dryRun.faults);
  const { audience, unknownTags } = dryRun;
  return json({ dryRun: true, audience, unknownTags });
}
