/** Deletes old push jobs and their reach, idempotency keys, and quotas that are not used. */

import type { UpkeepJob } from '../database/upkeep-job.ts';
import { byAge, inOrder } from '../database/upkeep-job.ts';
import { CAP_WINDOW_MS_MAX } from '../domain/policies.ts';
import { deleteQuotas } from './sql/draw-permits.ts';
import { deleteMovedOrdinals, removeReach } from './sql/ledger/remove-reach.ts';
import { deleteIdempotencyKeys, deleteOldNotifications } from './sql/old-notifications.ts';
import { deleteOldPlaces } from './sql/old-places.ts';

const DAY_MS = 86_400_000;
/** The interface promises 24 hours. */
const IDEMPOTENCY_KEY_MS = DAY_MS;
/** A bucket is full, and its ramp at the bottom, after minutes. */
const QUOTA_MS = DAY_MS;
/** @limit idempotency keys deleted in a run; quotas; moves of devices; places → the next run */
const ROWS_MAX = 10_000;
/**
 * Each may have thousands of scopes. With TRANSACTIONS_MAX it is 17 million a day.
 * @limit push jobs deleted in one transaction → the next one
 */
const NOTIFICATIONS_MAX = 100;
/**
 * A small job has a row of its scope, a large one a row for each group.
 * @limit push jobs whose reach is removed in one transaction, and rows of their groups → the next
 * one
 */
const REACH_AT_ONCE = { jobs: 1_000, rows: 10_000 };
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

interface ReachRetention {
  readonly reachRetentionDays: number;
  readonly notificationRetentionDays: number;
}

/** A job that is kept for less time than its reach would be takes it along. */
export const reachKeptDays = (retention: ReachRetention): number =>
  Math.min(retention.reachRetentionDays, retention.notificationRetentionDays);

export const oldReach = (retention: ReachRetention): UpkeepJob => {
  const { reachRetentionDays } = retention;
  const keptMs = reachKeptDays(retention) * DAY_MS;
  return {
    name: 'reach of ended push jobs',
    transactionsMax: TRANSACTIONS_MAX,
    run: inOrder(
      ({ sql, nowMs, budget }) =>
        budget.exhaust(() => removeReach(sql, nowMs - keptMs, REACH_AT_ONCE)),
      byAge({
        keptMs: reachRetentionDays * DAY_MS,
        batchMax: ROWS_MAX,
        delete: deleteMovedOrdinals,
      }),
    ),
  };
};

/** They are kept as long as the longest window of a cap. */
export const CAP_PLACES: UpkeepJob = {
  name: 'places of capped push jobs',
  transactionsMax: TRANSACTIONS_MAX,
  run: byAge({ keptMs: CAP_WINDOW_MS_MAX, batchMax: ROWS_MAX, delete: deleteOldPlaces }),
};

export const QUOTAS: UpkeepJob = {
  name: "providers' quotas",
  intervalMs: 3_600_000,
  transactionsMax: 1,
  run: byAge({ keptMs: QUOTA_MS, batchMax: ROWS_MAX, delete: deleteQuotas }),
};
