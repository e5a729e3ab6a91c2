/**
 * `operations`: the bulk operations of a client with their progress, newest first; one of them, and
 * its cancelling.
 */

import { recordChange } from '../../audit/record-change.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { Caller } from '../../domain/caller.ts';
import { isLimited } from '../../domain/caller.ts';
import { ID_MAX } from '../../domain/tag.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, json } from '../../http/json-body.ts';
import { answerList } from '../../http/list-answer.ts';
import { pathId } from '../../http/path-id.ts';
import { problem } from '../../http/problem.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { shownUserName } from '../../http/user-name.ts';
import type { BulkOwner, ListedBulkOperation } from '../sql/read-operations.ts';
import {
  cancelBulkOperation,
  listBulkOperations,
  readBulkOperation,
} from '../sql/read-operations.ts';

/** The list, one, and the end of one. */
export function bulkResourceRoutes(sql: SqlPool): readonly ApiRoute[] {
  const path = operationsPathOf(':client');
  const read = { api: 'admin', needs: 'read', bodyBytesMax: 0 } as const;
  return [
    {
      ...read,
      operation: 'listBulkOperations',
      method: 'GET',
      path,
      handle: (request, caller) => listAll(sql, request, caller),
    },
    {
      ...read,
      operation: 'getBulkOperation',
      method: 'GET',
      path: `${path}/:id`,
      async handle(request, caller) {
        const id = pathId(request);
        const operation = id === null ? null : await readBulkOperation(sql, ownerOf(caller), id);
        return operation === null ? unknown(request) : json(shown(caller, operation));
      },
    },
    {
      api: 'admin',
      operation: 'cancelBulkOperation',
      needs: 'admin',
      method: 'POST',
      path: `${path}/:id/cancel`,
      bodyBytesMax: BODY_BYTES_MAX,
      handle: (request, caller) => cancel(sql, request, caller),
    },
  ];
}

/** Rows of a page, when the caller does not say. */
const PAGE_DEFAULT = 100;

function listAll(
  sql: Sql,
  request: HttpRequest,
  caller: Caller,
): HttpResponse | Promise<HttpResponse> {
  const reader = new QueryReader(request.query, ['limit', 'cursor']);
  const page = { limit: reader.limit() ?? PAGE_DEFAULT, after: reader.cursor(FIRST) };
  if (reader.faults.length > 0) return invalid(request, reader.faults);
  return answerList<ListedBulkOperation, readonly number[]>(request, page, {
    read: ([beforeId = ID_MAX], limit) =>
      listBulkOperations(sql, ownerOf(caller), { beforeId, limit }),
    keyOf: ({ id }) => [id],
    show: (operation) => shown(caller, operation),
  });
}

const FIRST: readonly number[] = [ID_MAX];

/** What was done stays done. */
async function cancel(sql: SqlPool, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const id = pathId(request);
  if (id === null) return unknown(request);
  const operation = await transact(sql, async (tx) => {
    const isCancelled = await cancelBulkOperation(tx, ownerOf(caller), id);
    if (isCancelled) {
      const change = { action: 'operation.cancel', id, name: null } as const;
      await recordChange(tx, originOf(request, caller), change);
    }
    return await readBulkOperation(tx, ownerOf(caller), id);
  });
  if (operation === null) return unknown(request);
  return operation.state === 'CANCELLED'
    ? json(shown(caller, operation))
    : problem(
        request.requestId,
        409,
        'This operation is FINISHED: it cannot be cancelled any more.',
      );
}

/** A key with limits sees and cancels its own. */
const ownerOf = (caller: Caller): BulkOwner => ({
  clientId: caller.clientId,
  userName: isLimited(caller) ? caller.userName : null,
});

/** 404: also for one of another client, or of another caller than a limited key. */
const unknown = (request: HttpRequest): HttpResponse =>
  problem(request.requestId, 404, 'There is no such operation.');

/** 202, with where it is to be found. */
export function acceptedBulkOperation(
  operation: ListedBulkOperation,
  caller: Caller,
): HttpResponse {
  const answer = json(shown(caller, operation));
  const location = `${operationsPathOf(caller.clientSlug)}/${operation.id}`;
  return { ...answer, status: 202, headers: { ...answer.headers, Location: location } };
}

const operationsPathOf = (clientSlug: string) => `/push-admin-api/v3/${clientSlug}/operations`;

/** What an operation does not have, or has not come to yet, is left out. */
function shown(caller: Caller, operation: ListedBulkOperation) {
  const { id, action, state, userName, appId, platformId, memberOf, total } = operation;
  const { changed, unchanged, unknown: notThere, full, refused } = operation;
  const tagIds = operation.subscribe.length > 0 ? operation.subscribe : operation.unsubscribe;
  return {
    id,
    action,
    state,
    userName: shownUserName(caller, userName),
    ...(memberOf === null
      ? { appId, platformId, tagIds }
      : { tagId: memberOf, toTagId: operation.subscribe[0] }),
    total,
    done: changed + unchanged + notThere + full + refused,
    changed,
    unchanged,
    unknown: notThere,
    full,
    refused,
    acceptedAt: operation.acceptedAtMs,
    startedAt: operation.startedAtMs ?? undefined,
    endedAt: operation.endedAtMs ?? undefined,
  };
}
