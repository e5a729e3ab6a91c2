/** Counts of begun blocks of slow chunks, shown beside what is done, for each claim. */

import type { Fragment, Sql } from '../../../database/sql.ts';
import type { Counts } from '../../../domain/notification.ts';

/** In the order of the column, after the epoch. */
const NAMES = [
  'total',
  'delivered',
  'failed',
  'skipped',
  'expired',
  'cancelled',
] as const satisfies readonly (keyof Counts)[];

export const begunOf = (counts: Counts): readonly number[] => NAMES.map((name) => counts[name]);

/** One row, a sum for each count, of `n`: its chunks are read only while it is not over. */
export const sumsOfBegun = (sql: Sql, isMeant: Fragment) => sql`
  select coalesce(sum(c.begun_counts[2]), 0) as total, coalesce(sum(c.begun_counts[3]), 0) as delivered,
    coalesce(sum(c.begun_counts[4]), 0) as failed, coalesce(sum(c.begun_counts[5]), 0) as skipped,
    coalesce(sum(c.begun_counts[6]), 0) as expired, coalesce(sum(c.begun_counts[7]), 0) as cancelled
  from chunks c
  where n.finished_at is null and c.notification_id = n.id
    and c.begun_counts[1] = c.epoch and c.parked_at is null and ${isMeant}`;
