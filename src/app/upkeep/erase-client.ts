/** Erases what a deleted client leaves: a bounded piece in a transaction. */

import type { Sql, SqlPool } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { eraseMany } from '../../push/sql/ledger/erase-many.ts';

export interface ClientDeletion {
  readonly clientId: number;
  /** The time of deletion, by the database's clock. */
  readonly deletedAtMs: number;
}

export const listClientDeletions = (
  sql: Sql,
  afterId: number,
  limit: number,
): Promise<readonly ClientDeletion[]> =>
  sql<ClientDeletion[]>`
    select id as "clientId", extract(epoch from deleted_at)::float8 * 1000 as "deletedAtMs"
    from clients where deleted_at is not null and id > ${afterId} order by id limit ${limit}`;

export const listJobsToCancel = async (
  sql: Sql,
  { clientId }: ClientDeletion,
  limit: number,
): Promise<readonly string[]> => {
  const rows = await sql<{ id: string }[]>`
    select id from notifications
    where client_id = ${clientId} and finished_at is null and state <> 'CANCELLED' limit ${limit}`;
  return rows.map(({ id }) => id);
};

/** Erases those that have ended. Answers whether there may be more. */
export const eraseEndedJobs = (
  sql: SqlPool,
  { clientId }: ClientDeletion,
  limits: { readonly jobs: number; readonly rows: number },
): Promise<boolean> =>
  transact(sql, async (tx) => {
    const ended = await tx<{ id: string }[]>`
      select id from notifications
      where client_id = ${clientId} and finished_at is not null
      order by id limit ${limits.jobs} for update skip locked`;
    const ids = ended.map(({ id }) => id);
    if (await eraseMany(tx, ids, null, limits.rows)) return true;
    await tx`delete from notifications where id = any (${list(ids)}::uuid[])`;
    return ids.length === limits.jobs;
  });

/** Whether something of its apps is left. */
export async function hasAppDeletions(sql: Sql, { clientId }: ClientDeletion): Promise<boolean> {
  const rows = await sql`select from app_deletions where client_id = ${clientId} limit 1`;
  return rows.length > 0;
}

/** Erases tags, and with the last of them the groups. Answers how many tags. */
export const eraseTags = (
  sql: SqlPool,
  { clientId }: ClientDeletion,
  limit: number,
): Promise<number> =>
  transact(sql, async (tx) => {
    const erased = await tx<{ id: number }[]>`
      delete from tags where id in (
        select id from tags where client_id = ${clientId} order by id limit ${limit}
      )
      returning id`;
    const ids = list(erased.map(({ id }) => id));
    await tx`delete from tag_days where tag_id = any (${ids}::integer[])`;
    await tx`delete from notification_days where object_id = any (${ids}::integer[])`;
    if (erased.length < limit) await tx`delete from tag_groups where client_id = ${clientId}`;
    return erased.length;
  });

/** The client itself, if nothing of it is left. */
export async function closeClientDeletion(sql: Sql, { clientId }: ClientDeletion): Promise<void> {
  await sql`
    delete from clients c
    where id = ${clientId}
      and not exists (select from app_deletions where client_id = c.id)
      and not exists (select from apps where client_id = c.id)
      and not exists (select from credentials where client_id = c.id)
      and not exists (select from client_keys where client_id = c.id)
      and not exists (select from notifications where client_id = c.id)
      and not exists (select from tags where client_id = c.id)
      and not exists (select from tag_groups where client_id = c.id)`;
}
