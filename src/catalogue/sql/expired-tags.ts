/**
 * Deletes long expired tags as a request would; one with an open operation on its members stays.
 */

import type { Fragment, Sql } from '../../database/sql.ts';

/** Up to `limit` clients, from after `afterId` on, that have a tag to delete. */
export async function clientsOfExpiredTags(
  sql: Sql,
  expiredBeforeMs: number,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await sql<{ clientId: number }[]>`
    select distinct t.client_id as "clientId" from tags t
    where t.client_id > ${afterId} and ${isToDelete(sql, expiredBeforeMs)}
    order by 1 limit ${limit}`;
  return rows.map(({ clientId }) => clientId);
}

/** Answers their ids. Under the client's lock: an extension of an expiration waits for it. */
export async function deleteExpiredTags(
  tx: Sql,
  clientId: number,
  expiredBeforeMs: number,
  limit: number,
): Promise<readonly number[]> {
  const rows = await tx<{ id: number }[]>`
    update tags set deleted_at = now(), group_id = null
    where id in (
      select t.id from tags t
      where t.client_id = ${clientId} and ${isToDelete(tx, expiredBeforeMs)}
      order by t.id limit ${limit}
    )
    returning id`;
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}

/** A tag that was made with a time in the past stays for as long after it was made. */
const isToDelete = (sql: Sql, expiredBeforeMs: number): Fragment => sql`
  t.deleted_at is null and t.expires_at_ms < ${Math.floor(expiredBeforeMs)}::bigint
  and t.created_at < to_timestamp(${expiredBeforeMs}::float8 / 1000)
  and not exists (
    select from bulk_operations o
    where o.client_id = t.client_id and o.member_of = t.id and o.ended_at is null
  )`;
