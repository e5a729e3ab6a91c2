/** Removes the reach of jobs that ended long ago, and moves of devices that only it needed. */

import type { Sql, SqlPool } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';
import { transact } from '../../../database/transact.ts';
import { GROUP_DEVICES } from '../../../domain/device.ts';
import { eraseMany } from './erase-many.ts';
import { firstSendRetried, isNeededByRetry } from './retry-chain.ts';

/** @limit by which clocks of nodes differ, and a job finds devices late → its moves stay longer */
const CLOCKS_MARGIN_MS = 3_600_000;

interface RemovedAtOnce {
  readonly jobs: number;
  /** Rows of groups, and of scopes: a single job may have thousands. */
  readonly rows: number;
}

/**
 * Takes the jobs that ended first of those that have a reach, if they ended before a time. Answers
 * whether there may be more. No other node removes meanwhile. One that a retry needs stays, and
 * those after it: no longer than a week, and only if the reach was to be kept longer before.
 */
export const removeReach = (
  sql: SqlPool,
  endedBeforeMs: number,
  limits: RemovedAtOnce,
): Promise<boolean> =>
  transact(sql, async (tx) => {
    await tx`insert into reach_removal default values on conflict do nothing`;
    const [mark] = await tx<{ endedAt: string; notificationId: string }[]>`
      select ended_at::text as "endedAt", notification_id as "notificationId" from reach_removal
      for no key update skip locked`;
    if (mark === undefined) return false;
    const found = await tx<{ id: string; endedAt: string; isNeeded: boolean }[]>`
      select id, finished_at::text as "endedAt", ${isNeededByRetry(tx)} as "isNeeded"
      from notifications n
      where finished_at >= ${mark.endedAt}::text::timestamptz
        and (finished_at, id) > (${mark.endedAt}::text::timestamptz, ${mark.notificationId}::uuid)
        and finished_at < to_timestamp(${endedBeforeMs}::float8 / 1000)
      order by finished_at, id limit ${limits.jobs}`;
    const needed = found.findIndex(({ isNeeded }) => isNeeded);
    const ended = needed === -1 ? found : found.slice(0, needed);
    const last = ended.at(-1);
    if (last === undefined) return false;
    const ids = ended.map(({ id }) => id);
    // First: then half a reach is never taken for a whole one (read-reach.ts).
    if ((await forgetInScopes(tx, ids, limits.rows)) === limits.rows) return true;
    if (await eraseMany(tx, ids, null, limits.rows, ['push_reach'])) return true;
    // Parked parts stay as long as the job.
    await tx`
      update chunks set reach_words = null
      where notification_id = any (${list(ids)}::uuid[]) and parked_at is not null
        and reach_words is not null`;
    await tx`
      update reach_removal
      set ended_at = ${last.endedAt}::text::timestamptz, notification_id = ${last.id}::uuid`;
    return ended.length === limits.jobs;
  });

/** Answers how many rows, at most `limit`: a single job may have thousands of scopes. */
async function forgetInScopes(
  tx: Sql,
  notificationIds: readonly string[],
  limit: number,
): Promise<number> {
  const forgotten = await tx`
    update notification_scopes set reached = null, reach_noted = null, reach_words = null
    where ctid = any (array(
      select ctid from notification_scopes
      where notification_id = any (${list(notificationIds)}::uuid[]) and reached is not null
      limit ${limit}
    ))`;
  return forgotten.count;
}

/** Answers how many, at most `limit`; none that a retry or wave under way, or a place, may need. */
export async function deleteMovedOrdinals(
  sql: Sql,
  movedBeforeMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from moved_ordinals where ctid = any (array(
      select ctid from moved_ordinals m
      where moved_at < to_timestamp(${movedBeforeMs}::float8 / 1000)
        and moved_at < coalesce(${firstSendRetried(sql)}, 'infinity')
        and not exists (
          select from cap_places p
          where p.app_id = m.app_id and p.platform_id = m.platform_id
            and p.group_number = m.from_ordinal / ${GROUP_DEVICES}::integer
            -- A later job finds the device where it is now. Ids begin with the time of their node.
            and p.notification_id < (lpad(to_hex(floor(
              extract(epoch from m.moved_at) * 1000 + ${CLOCKS_MARGIN_MS}::float8
            )::bigint), 12, '0') || '70008000000000000000')::uuid
        )
        and moved_at < coalesce((
          select min(first_send_at) from notifications
          where finished_at is null and send_at_local is not null
        ), 'infinity')
      order by moved_at limit ${limit}
    ))`;
  return deleted.count;
}
