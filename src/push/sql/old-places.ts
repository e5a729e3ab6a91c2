/** Deletes places that no cap counts any more. */

import type { Sql } from '../../database/sql.ts';
import { GROUP_DEVICES } from '../../domain/device.ts';

/**
 * Those that changed last before a time; answers how many, at most `limit`. A job that may still
 * send keeps its places, but for parked parts: released, they take new ones.
 */
export async function deleteOldPlaces(
  sql: Sql,
  changedBeforeMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from cap_places where ctid = any (array(
      select ctid from cap_places p
      where last_at < to_timestamp(${changedBeforeMs}::float8 / 1000)
        and not exists (
          select from chunks c
          where c.notification_id = p.notification_id and c.app_id = p.app_id
            and c.platform_id = p.platform_id and c.group_number = p.group_number
            and c.parked_at is null
        )
        and not exists (
          select from retries r
          where r.notification_id = p.notification_id and r.app_id = p.app_id
            and r.platform_id = p.platform_id
            and r.ordinal between p.group_number * ${GROUP_DEVICES}::integer
              and p.group_number * ${GROUP_DEVICES}::integer + ${GROUP_DEVICES - 1}::integer
        )
      order by last_at limit ${limit}
    ))`;
  return deleted.count;
}
