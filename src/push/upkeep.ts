/** Deletes old push jobs, idempotency keys, and quotas that are no longer used. */

import type { UpkeepJob } from '../database/upkeep-job.ts';
import { byAge } from '../database/upkeep-job.ts';
import { deleteQuotas } from './sql/draw-permits.ts';
import { deleteIdempotencyKeys, deleteOldNotifications } from './sql/old-notifications.ts';

const DAY_MS = 86_400_000;
/** The interface promises 24 hours. */
const IDEMPOTENCY_KEY_MS = DAY_MS;
/** A bucket is full, and its ramp at the bottom, after minutes. */
const QUOTA_MS = DAY_MS;
/** @limit idempotency keys deleted in a run; quotas → the next run */
const ROWS_MAX = 10_000;
/**
 * Each may have thousands of scopes. With TRANSACTIONS_MAX it is 17 million a day.
 * @limit push jobs deleted in one transaction → the next one
 */
const NOTIFICATIONS_MAX = 100;
/** @limit such transactions of a run → the next run */
const TRANSACTIONS_MAX = 20;

export const IDEMPOTENCY_KEYS: UpkeepJob = {
  name: 'idempotency keys',
  transactionsMax: 1,
  run: byAge({ keptMs: IDEMPOTENCY_KEY_MS, batchMax: ROWS_MAX, delete: deleteIdempotencyKeys }),
};

export const oldNotifications = (keptDays: number): UpkeepJob => ({
  name: 'ended push jobs',
  transactionsMax: TRANSACTIONS_MAX,
  run: byAge({
    keptMs: keptDays * DAY_MS,
    batchMax: NOTIFICATIONS_MAX,
    delete: deleteOldNotifications,
  }),
});

export const QUOTAS: UpkeepJob = {
  name: "providers' quotas",
  intervalMs: 3_600_000,
  transactionsMax: 1,
  run: byAge({ keptMs: QUOTA_MS, batchMax: ROWS_MAX, delete: deleteQuotas }),
};
