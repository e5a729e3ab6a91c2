/** `operations`: the bulk operations of a client, newest first; one, and its cancelling. */

import { z } from 'zod';
import { recordChange } from '../../audit/record-change.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { ATTRIBUTES_ACTION, BULK_ACTIONS, BULK_STATES } from '../../domain/bulk-operation.ts';
import type { Caller } from '../../domain/caller.ts';
import { isLimited } from '../../domain/caller.ts';
import { ID_MAX } from '../../domain/tag.ts';
import { listed, shown } from '../../http/answers.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { Route } from '../../http/handler.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { count, epochMs, id, orAbsent, platformId, word } from '../../http/openapi/parts.ts';
import { cursorFrom, limitOr, pathId } from '../../http/parameters.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { shownUserName } from '../../http/user-name.ts';
import type { BulkOwner, ListedBulkOperation } from '../sql/read-operations.ts';
import {
  cancelBulkOperation,
  listBulkOperations,
  readBulkOperation,
} from '../sql/read-operations.ts';

const counted = (description: string) => count.meta({ description });
export const bulkOperation = z
  .object({
    id,
    action: word(BULK_ACTIONS),
    state: word(BULK_STATES),
    userName: z.string(),
    appId: orAbsent(id),
    platformId: orAbsent(platformId),
    tagIds: z.array(id).optional(),
    tagId: orAbsent(id.meta({ description: 'Whose members they are.' })),
    toTagId: id.optional(),
    total: counted(
      'Devices when it was accepted. Members come and go, so `done` may end above or below it.',
    ),
    done: counted('The sum of the five counts.'),
    changed: counted('They have changed.'),
    unchanged: counted('They were so already, or left the tag before their turn.'),
    unknown: counted('The app has no such device.'),
    full: counted('They have as many tags as a device may have (`TAGS_PER_DEVICE_MAX`).'),
    refused: counted(
      'They cannot have the new tag: it was deleted, has expired or is not connected to their app. The old one stays. Or the attribute was deleted.',
    ),
    acceptedAt: epochMs,
    startedAt: orAbsent(epochMs),
    endedAt: orAbsent(epochMs),
  })
  .meta({
    id: 'BulkOperation',
    description:
      'A change of the tags, or attributes, of many devices. Those of a client are done one after the other, in the order in which they were accepted; sends and registrations go first. A push reaches a device by its tags of that moment: for a push to all of them, wait for `FINISHED`. Nothing is lost when a node dies: another one goes on. An import that is under way writes the tags of its file, so a device that was moved before may get the old tag back: start the operation when the import has ended. A device that is met twice, because it was given another place meanwhile, counts twice. To repeat a request does no harm. Kept for 7 days after its end.',
  });
const COUNTS = { done: 0, changed: 0, unchanged: 0, unknown: 0, full: 0, refused: 0 };
export const MOVE = {
  id: 4,
  action: 'move',
  state: 'QUEUED',
  userName: 'demo-super',
  tagId: 2,
  toTagId: 3,
  total: 1,
  ...COUNTS,
  acceptedAt: 1_795_392_000_000,
};
export const SUBSCRIBE = {
  id: 3,
  action: 'subscribe',
  state: 'QUEUED',
  userName: 'demo-super',
  appId: 1,
  platformId: 3,
  tagIds: [2],
  total: 2,
  ...COUNTS,
  acceptedAt: 1_795_392_000_000,
};

export const SET_ATTRIBUTES = {
  id: 5,
  action: ATTRIBUTES_ACTION,
  state: 'QUEUED',
  userName: 'demo-super',
  appId: 1,
  platformId: 3,
  total: 1,
  ...COUNTS,
  acceptedAt: 1_795_392_000_000,
};

const PAGE_DEFAULT = 100;

const PATH = '/push-admin-api/v3/:client/operations';
const reads = routesAt(PATH, { api: 'admin', needs: 'read' });
const changes = routesAt(PATH, { api: 'admin', needs: 'admin' });
const path = { id: pathId('operation', 3) };
/** Also for one of another caller than a limited key. */
const NO_OPERATION = refuse.unknown('operation');

export const operationPathOf = ({ clientSlug }: Caller, id: number): string =>
  `${PATH.replace(':client', clientSlug)}/${id}`;

export const bulkResourceRoutes = (sql: SqlPool): readonly Route[] =>
  [listRoute, getRoute, cancelRoute].map((make) => make(sql));

const listRoute = (sql: Sql) =>
  reads.get(
    'listBulkOperations',
    {
      summary: 'List bulk operations, newest first',
      query: {
        limit: limitOr(PAGE_DEFAULT, `How many operations; ${PAGE_DEFAULT} if it is not given.`),
        cursor: cursorFrom([ID_MAX], '2'),
      },
      answer: listed('The operations.', bulkOperation, [MOVE, SUBSCRIBE]),
    },
    ({ caller, query }) =>
      rowsOf(query, {
        async read([beforeId = ID_MAX], limit) {
          const rows = await listBulkOperations(sql, ownerOf(caller), { beforeId, limit });
          return rows.map((row) => shownTo(caller, row));
        },
        keyOf: ({ id }) => [id],
      }),
  );

const getRoute = (sql: Sql) =>
  reads.get(
    'getBulkOperation',
    {
      at: ':id',
      summary: 'How far a bulk operation is',
      path,
      answer: shown('The operation.', bulkOperation, SUBSCRIBE),
    },
    async ({ caller, path: { id } }) => {
      const operation = await readBulkOperation(sql, ownerOf(caller), id);
      return operation === null ? NO_OPERATION : done(shownTo(caller, operation));
    },
  );

const cancelRoute = (sql: SqlPool) =>
  changes.post(
    'cancelBulkOperation',
    {
      at: ':id/cancel',
      summary: 'Cancel a bulk operation',
      description:
        'It ends where it is; what was done stays done. Repeated, it changes nothing. `409`: it has finished.',
      path,
      answer: shown('Cancelled.', bulkOperation, { ...SUBSCRIBE, state: 'CANCELLED' }),
      problems: [409],
    },
    async ({ caller, path: { id }, request }) => {
      const operation = await transact(sql, async (tx) => {
        const isCancelled = await cancelBulkOperation(tx, ownerOf(caller), id);
        if (isCancelled) {
          const change = { action: 'operation.cancel', id, name: null } as const;
          await recordChange(tx, originOf(request, caller), change);
        }
        return await readBulkOperation(tx, ownerOf(caller), id);
      });
      if (operation === null) return NO_OPERATION;
      return operation.state === 'CANCELLED'
        ? done(shownTo(caller, operation))
        : refused(409, 'This operation is FINISHED: it cannot be cancelled any more.');
    },
  );

/** A key with limits sees and cancels its own. */
const ownerOf = (caller: Caller): BulkOwner => ({
  clientId: caller.clientId,
  userName: isLimited(caller) ? caller.userName : null,
});

export function shownTo(caller: Caller, operation: ListedBulkOperation) {
  const { action, userName, memberOf, subscribe, unsubscribe } = operation;
  const { changed, unchanged, unknown, full, refused: turnedAway } = operation;
  return {
    ...operation,
    userName: shownUserName(caller, userName),
    tagId: memberOf,
    ...tagsOf(action, memberOf, subscribe, unsubscribe),
    done: changed + unchanged + unknown + full + turnedAway,
  };
}

function tagsOf(
  action: ListedBulkOperation['action'],
  memberOf: number | null,
  subscribe: readonly number[],
  unsubscribe: readonly number[],
): { readonly tagIds?: readonly number[]; readonly toTagId?: number | undefined } {
  if (action === ATTRIBUTES_ACTION) return {};
  if (memberOf !== null) return { toTagId: subscribe[0] };
  return { tagIds: subscribe.length > 0 ? subscribe : unsubscribe };
}
