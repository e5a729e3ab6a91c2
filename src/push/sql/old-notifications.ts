/**
 * Deletes notifications that ended long ago, with their scopes, reasons and idempotency keys (which
 * live a day).
 */

import type { SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';

/**
 * Deletes those that ended `endedForMs` ago by the database's clock, the oldest first; answers how
 * many, at most `limit`. A notification stays, however old, if it is unfinished, if no
 * statistics count it yet, or if its condemned devices are not yet erased or forgotten, or are
 * held.
 */
export const deleteOldNotifications = (
  sql: SqlPool,
  endedForMs: number,
  limit: number,
): Promise<number> =>
  transact(sql, async (tx) => {
    const deleted = await tx`
      -- A statement of its own in the plan: joined row by row it would be asked again and again, past its limit.
      with ended as materialized (
        select id from notifications n
        where finished_at < now() - ${endedForMs}::float8 * interval '1 millisecond'
          and is_end_listed
          and not exists (select from ended_notifications e where e.notification_id = n.id)
          and not exists (
            select from notification_scopes s
            where s.notification_id = n.id and s.deletions is not null
          )
        order by finished_at limit ${limit}
        for update skip locked
      )
      delete from notifications n using ended where n.id = ended.id`;
    return deleted.count;
  });
