/** Changes of keys, credentials and webhooks, which only who is still a super user may make. */

import type { Sql, SqlPool } from '../../database/sql.ts';
import type { AuditOrigin } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { whyNoMore } from '../../http/permission.ts';
import { problem } from '../../http/problem.ts';
import { transactAsSuperUser } from '../super-user.ts';

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

const noSuperUser = (request: HttpRequest, caller: Caller): HttpResponse =>
  problem(request.requestId, 403, whyNoMore(caller));
