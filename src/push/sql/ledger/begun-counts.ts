/**
 * Counts of devices in blocks that are begun and not done, of chunks that are held to a rate. They
 * are shown beside what is done. A claim has its own: by another claim they are gone.
 */

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

/** The counts in the order of the column. */
export const begunOf = (counts: Counts): readonly number[] => NAMES.map((name) => counts[name]);

/**
 * The sums over the chunks that a condition finds, of a notification `n`: one row, with a column
 * for each count. Only a notification that is held to a rate has any, so only its chunks are read.
 */
export const sumsOfBegun = (sql: Sql, isMeant: Fragment) => sql`
  select coalesce(sum(c.begun_counts[2]), 0) as total, coalesce(sum(c.begun_counts[3]), 0) as delivered,
    coalesce(sum(c.begun_counts[4]), 0) as failed, coalesce(sum(c.begun_counts[5]), 0) as skipped,
    coalesce(sum(c.begun_counts[6]), 0) as expired, coalesce(sum(c.begun_counts[7]), 0) as cancelled
  from chunks c
  where n.rate_per_second is not null and n.finished_at is null and c.notification_id = n.id
    and c.begun_counts[1] = c.epoch and c.parked_at is null and ${isMeant}`;
