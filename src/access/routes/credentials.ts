/**
 * `credentials`: a client's super user lists and rotates its own credential, and those of its apps.
 */

import { z } from 'zod';
import { recordChange } from '../../audit/record-change.ts';
import { findAppClient } from '../../clients/find-app.ts';
import type { SqlPool } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { ID_MAX } from '../../domain/tag.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { answerList } from '../../http/list-answer.ts';
import { problem } from '../../http/problem.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { withSecret } from '../../http/with-secret.ts';
import { strictForm } from '../../std/strict-form.ts';
import { GRACE_HOURS_MAX, rotateCredential } from '../credentials.ts';
import type { Secrets } from '../secrets.ts';
import { listCredentials } from '../sql/list-credentials.ts';
import { asSuperUser } from './as-super-user.ts';

export interface CredentialRouteParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
}

const GRACE = `must be whole hours, 0–${GRACE_HOURS_MAX}`;
const APP_ID = 'must be the id of an app';
/** For how long what is replaced works on. */
export const graceHours = z.int(GRACE).min(0, GRACE).max(GRACE_HOURS_MAX, GRACE);
export const rotateForm = strictForm({
  graceHours,
  appId: z.int(APP_ID).min(1, APP_ID).max(ID_MAX, APP_ID).optional(),
});

/** The route that lists credentials, and the one that rotates the credential of a role. */
export function credentialRoutes(parts: CredentialRouteParts): readonly ApiRoute[] {
  const path = '/push-admin-api/v3/:client/credentials';
  return [
    {
      operation: 'listCredentials',
      api: 'admin',
      needs: 'super-user',
      method: 'GET',
      path,
      bodyBytesMax: 0,
      handle: (request, caller) => list(parts, request, caller),
    },
    {
      operation: 'rotateCredential',
      api: 'admin',
      needs: 'super-user',
      method: 'POST',
      path: `${path}/:role/rotate`,
      bodyBytesMax: BODY_BYTES_MAX,
      handle: (request, caller) => rotate(parts, request, caller),
    },
  ];
}

function list(
  { sql }: CredentialRouteParts,
  request: HttpRequest,
  { clientId }: Caller,
): HttpResponse | Promise<HttpResponse> {
  const reader = new QueryReader(request.query, ['limit', 'cursor']);
  const page = { limit: reader.limit(), after: reader.cursor(FIRST) };
  if (reader.faults.length > 0) return invalid(request, reader.faults);
  return answerList(request, page, {
    read: ([afterAppId = 0, afterId = 0], limit) =>
      listCredentials(sql, clientId, { afterAppId, afterId, limit }),
    keyOf: ({ appId, id }) => [appId ?? 0, id],
    show: ({ appId, username, createdAtMs, expiresAtMs }) => ({
      ...roleOf(appId),
      userName: username,
      createdAt: createdAtMs,
      ...(expiresAtMs === null ? {} : { expiresAt: expiresAtMs }),
    }),
  });
}

/** The super user's are before all apps'. */
const FIRST: readonly number[] = [0, 0];

async function rotate(
  { sql, secrets }: CredentialRouteParts,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const { clientId, clientSlug } = caller;
  const role = request.params['role'];
  if (role !== 'super-user' && role !== 'api-user') {
    return problem(request.requestId, 404, 'The roles are super-user and api-user.');
  }
  const read = readJsonBody(request, rotateForm);
  if (!read.ok) return read.response;
  const { graceHours, appId = null } = read.value;
  if ((role === 'api-user') !== (appId !== null)) {
    const message = appId === null ? 'is missing' : 'belongs to an api-user only';
    return invalid(request, [{ path: 'appId', message }]);
  }
  if (appId !== null && (await findAppClient(sql, appId))?.clientId !== clientId) {
    return problem(request.requestId, 404, 'This client has no app with this id.');
  }
  const owner = { clientId, clientSlug, appId };
  return asSuperUser(sql, request, caller, async (tx, origin) => {
    const { username, password, token } = await rotateCredential(tx, secrets, owner, graceHours);
    const detail = { ...roleOf(appId), graceHours };
    const change = { action: 'credential.rotate', id: null, name: username, detail } as const;
    await recordChange(tx, origin, change);
    return withSecret(json({ ...roleOf(appId), userName: username, password, token }));
  });
}

const roleOf = (appId: number | null) =>
  appId === null ? { role: 'super-user' } : { role: 'api-user', appId };
