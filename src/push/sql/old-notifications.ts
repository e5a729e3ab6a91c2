/** Deletes notifications that ended long ago, and idempotency keys, which live a day. */

import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { isNeededByRetry } from './ledger/retry-chain.ts';

/**
 * Deletes those that ended before a time, the oldest first; answers how many. One stays while no
 * statistics count it, its condemned devices are neither erased nor forgotten, it has a reach, or a
 * retry leaves out whom it has reached.
 */
export const deleteOldNotifications = (
  sql: SqlPool,
  endedBeforeMs: number,
  limit: number,
): Promise<number> =>
  transact(sql, async (tx) => {
    const deleted = await tx`
      -- A statement of its own in the plan: joined row by row it would be asked again and again, past its limit.
      with ended as materialized (
        select id from notifications n
        where finished_at < to_timestamp(${endedBeforeMs}::float8 / 1000)
          and is_end_listed
          and not exists (select from ended_notifications e where e.notification_id = n.id)
          and not exists (
            select from notification_scopes s
            where s.notification_id = n.id and s.deletions is not null
          )
          and not exists (select from push_reach r where r.notification_id = n.id)
          and not ${isNeededByRetry(tx)}
        order by finished_at limit ${limit}
        for update skip locked
      )
      delete from notifications n using ended where n.id = ended.id`;
    return deleted.count;
  });

/** Deletes keys that were taken before a time. Answers how many, at most `limit`. */
export async function deleteIdempotencyKeys(
  sql: Sql,
  createdBeforeMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from idempotency_keys where (client_id, key) in (
      select client_id, key from idempotency_keys
      where created_at < to_timestamp(${createdBeforeMs}::float8 / 1000)
      order by created_at limit ${limit}
    )`;
  return deleted.count;
}
