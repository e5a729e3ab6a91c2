/** Changes of keys, credentials and webhooks, which only who is still a super user may make. */

import type { Caller } from '../../access/caller.ts';
import { transactAsSuperUser } from '../../access/super-user.ts';
import type { AuditOrigin } from '../../domain/audit.ts';
import type { Sql, SqlPool } from '../../store/sql.ts';
import { originOf } from '../audit-origin.ts';
import type { HttpRequest, HttpResponse } from '../handler.ts';
import { whyNoMore } from '../permission.ts';
import { problem } from '../problem.ts';

/** In one transaction, which holds the client. 403: the caller was rotated away meanwhile. */
export async function asSuperUser(
  sql: SqlPool,
  request: HttpRequest,
  caller: Caller,
  work: (tx: Sql, origin: AuditOrigin) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const origin = originOf(request, caller);
  const answer = await transactAsSuperUser(sql, origin, (tx) => work(tx, origin));
  return answer === 'no-super-user' ? noSuperUser(request, caller) : answer;
}

export const noSuperUser = (request: HttpRequest, caller: Caller): HttpResponse =>
  problem(request.requestId, 403, whyNoMore(caller));
