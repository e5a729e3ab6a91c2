/** Keeps the statistics: counts ended notifications by day, and adds up old days. */

import type { UpkeepJob } from '../database/upkeep-job.ts';
import { byAge } from '../database/upkeep-job.ts';
import { countEnded, listEnded } from './count-ended.ts';
import { deleteNotificationDays, deleteTagDays, mergeTagDays } from './sql/old-days.ts';

/**
 * With TRANSACTIONS_MAX 10,000 a second, ten times what a node sends.
 * @limit push jobs that have ended, counted by tag, app and day in a transaction → the next one
 */
const NOTIFICATIONS_MAX = 500;
/**
 * @limit such transactions of a run, every 10 s → the next run; until then each is read by itself
 */
const TRANSACTIONS_MAX = 200;

/**
 * Two years, one of them a leap year.
 * @limit statistics by day are kept → added up, for the number of subscribers and the totals
 */
const STATISTICS_DAY_MS = 731 * 86_400_000;
/** @limit between two runs that add up and delete days of statistics */
const DAYS_INTERVAL_MS = 3_600_000;
/** @limit days of statistics added up in one transaction → the next one */
const DAY_ROWS_MAX = 10_000;
/** @limit transactions of a run in which slots of a day are added up → the next run */
const MERGES_MAX = 20;

export const UNLISTED_ENDS: UpkeepJob = {
  name: 'ended push jobs that are not listed',
  transactionsMax: TRANSACTIONS_MAX,
  run: ({ sql, budget }) =>
    budget.empty(NOTIFICATIONS_MAX, () => listEnded(sql, NOTIFICATIONS_MAX)),
};

export const UNCOUNTED_ENDS: UpkeepJob = {
  name: 'ended push jobs that are not counted',
  transactionsMax: TRANSACTIONS_MAX,
  run: ({ sql, budget }) =>
    budget.empty(NOTIFICATIONS_MAX, () => countEnded(sql, NOTIFICATIONS_MAX)),
};

/** Leaves one row of each day that is over. */
export const TAG_DAY_SLOTS: UpkeepJob = {
  name: 'slots of days of tags',
  intervalMs: DAYS_INTERVAL_MS,
  transactionsMax: MERGES_MAX,
  run: ({ sql, budget }) => budget.empty(DAY_ROWS_MAX, () => mergeTagDays(sql, DAY_ROWS_MAX)),
};

export const TAG_DAYS: UpkeepJob = {
  name: 'old days of tags',
  intervalMs: DAYS_INTERVAL_MS,
  transactionsMax: 1,
  run: byAge({ keptMs: STATISTICS_DAY_MS, batchMax: DAY_ROWS_MAX, delete: deleteTagDays }),
};

export const NOTIFICATION_DAYS: UpkeepJob = {
  name: 'old days of push jobs',
  intervalMs: DAYS_INTERVAL_MS,
  transactionsMax: 1,
  run: byAge({ keptMs: STATISTICS_DAY_MS, batchMax: DAY_ROWS_MAX, delete: deleteNotificationDays }),
};
