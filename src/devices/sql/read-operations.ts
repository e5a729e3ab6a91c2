/** Reads the bulk operations of a client with their progress, and cancels one. */

import type { Sql } from '../../database/sql.ts';
import type { BulkAction, BulkCounts, BulkState } from '../../domain/bulk-operation.ts';
import { passTurn } from './take-piece.ts';

export interface ListedBulkOperation extends BulkCounts {
  readonly id: number;
  readonly action: BulkAction;
  readonly state: BulkState;
  readonly userName: string;
  readonly subscribe: readonly number[];
  readonly unsubscribe: readonly number[];
  /** The app of a list of devices, else null. */
  readonly appId: number | null;
  readonly platformId: number | null;
  /** The tag whose members it changes, else null. */
  readonly memberOf: number | null;
  /** Devices, as of its acceptance. */
  readonly total: number;
  /** In milliseconds since 1970, as the next two. */
  readonly acceptedAt: number;
  /** Null: not yet. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

/** Whose operations: of a client, and of one caller if he sees only his own. */
export interface BulkOwner {
  readonly clientId: number;
  /** Null: of all callers. */
  readonly userName: string | null;
}

/** Null: there is none, or it is another's. */
export async function readBulkOperation(
  sql: Sql,
  owner: BulkOwner,
  id: number,
): Promise<ListedBulkOperation | null> {
  const [operation] = await sql<ListedBulkOperation[]>`
    select ${columns(sql)} from bulk_operations where ${ofOwner(sql, owner)} and id = ${id}`;
  return operation ?? null;
}

/** Newest first; `beforeId`: the last one of the page before. */
export const listBulkOperations = (
  sql: Sql,
  owner: BulkOwner,
  { beforeId, limit }: { readonly beforeId: number; readonly limit: number },
) =>
  sql<ListedBulkOperation[]>`
    select ${columns(sql)} from bulk_operations
    where ${ofOwner(sql, owner)} and id < ${beforeId}
    order by id desc limit ${limit}`;

/** Ends it, after its piece under way. False: there is none, or it has ended. */
export async function cancelBulkOperation(tx: Sql, owner: BulkOwner, id: number): Promise<boolean> {
  const ended = await tx`
    update bulk_operations set ended_at = now(), is_cancelled = true, device_keys = null, device_facets = null, device_numbers = null
    where ${ofOwner(tx, owner)} and id = ${id} and ended_at is null`;
  if (ended.count === 0) return false;
  await passTurn(tx, owner.clientId, id, 0);
  return true;
}

const ofOwner = (sql: Sql, { clientId, userName }: BulkOwner) =>
  sql`client_id = ${clientId} ${userName === null ? sql`` : sql`and user_name = ${userName}`}`;

const columns = (sql: Sql) => sql`
  id, action, user_name as "userName", subscribe_tag_ids as subscribe, unsubscribe_tag_ids as unsubscribe,
  app_id as "appId", platform_id as "platformId", member_of as "memberOf",
  total, changed, unchanged, unknown, "full", refused,
  case
    when is_cancelled then 'CANCELLED'
    when ended_at is not null then 'FINISHED'
    when started_at is not null then 'RUNNING'
    else 'QUEUED'
  end as state,
  floor(extract(epoch from accepted_at) * 1000)::float8 as "acceptedAt",
  floor(extract(epoch from started_at) * 1000)::float8 as "startedAt",
  floor(extract(epoch from ended_at) * 1000)::float8 as "endedAt"`;

/** Deletes bulk operations that ended before a time. Answers how many, at most `limit`. */
export async function deleteBulkOperations(
  sql: Sql,
  endedBeforeMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from bulk_operations where id in (
      select id from bulk_operations
      where ended_at < to_timestamp(${endedBeforeMs}::float8 / 1000)
      order by ended_at limit ${limit}
    )`;
  return deleted.count;
}
