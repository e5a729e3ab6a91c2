/** Keeps events and deliveries of webhooks bounded: by time, and by number. */

import type { UpkeepJob } from '../database/upkeep-job.ts';
import { byAge, inOrder, inTurn } from '../database/upkeep-job.ts';
import {
  deleteLeftEvents,
  deleteOldDeliveries,
  nextWebhooks,
  trimWebhookEvents,
} from './sql/old-deliveries.ts';

/**
 * Longer than it is tried, and a weekend: a dead one can still be replayed.
 * @limit deliveries are kept → deleted
 */
const DELIVERY_RETENTION_MS = 7 * 86_400_000;
/**
 * Some 50 KiB each. Until its turn comes, a webhook may have more.
 * @limit deliveries of a webhook that are kept, and what comes until its turn → the oldest are
 * deleted
 */
const DELIVERIES_PER_WEBHOOK_MAX = 1_000;
/**
 * From 200 bytes to 64 KiB each. Until its turn comes, a webhook may have more.
 * @limit events that wait for a webhook → the oldest are deleted; `droppedEvents` counts them
 */
const WAITING_EVENTS_MAX = 10_000;
/**
 * Looked at in one run: some milliseconds of the database's time for each that has so many.
 * @limit webhooks looked at in a run of housekeeping → the next run
 */
const WEBHOOKS_MAX = 100;
/** @limit waiting events of webhooks deleted in a transaction of housekeeping → the next one */
const EVENTS_MAX = 10_000;
/** @limit deliveries of webhooks deleted in such a transaction → the next one */
const DELIVERIES_MAX = 1_000;
/** @limit such transactions of a run → the next run */
const TRANSACTIONS_MAX = 20;

const LIMITS = { waitingEventsMax: WAITING_EVENTS_MAX, deliveriesMax: DELIVERIES_PER_WEBHOOK_MAX };

/** Deletes events whose webhook is gone, and then what is too much or too old of each webhook. */
export const webhookData = ({ waitingEventsMax, deliveriesMax } = LIMITS): UpkeepJob => ({
  name: 'webhooks',
  transactionsMax: TRANSACTIONS_MAX,
  run: inOrder(
    byAge({
      keptMs: 0,
      batchMax: EVENTS_MAX,
      delete: (sql, _beforeMs, limit) => deleteLeftEvents(sql, limit),
    }),
    inTurn<number>({
      start: 0,
      ownersMax: WEBHOOKS_MAX,
      unfinished: 'first',
      next: ({ sql }, afterId, limit) => nextWebhooks(sql, afterId, limit),
      serve: async ({ sql, nowMs, budget }, id) =>
        (await budget.empty(EVENTS_MAX, () =>
          trimWebhookEvents(sql, id, waitingEventsMax, EVENTS_MAX),
        )) &&
        (await budget.empty(DELIVERIES_MAX, () =>
          deleteOldDeliveries(
            sql,
            id,
            { beforeMs: nowMs - DELIVERY_RETENTION_MS, deliveriesMax },
            DELIVERIES_MAX,
          ),
        )),
    }),
  ),
});
