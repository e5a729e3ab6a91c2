/** Keeps events and deliveries of webhooks bounded: by time, and by number. */

import type { UpkeepJob } from '../database/upkeep-job.ts';
import { byAge, inOrder, inTurn } from '../database/upkeep-job.ts';
import {
  deleteLeftEvents,
  deleteOldDeliveries,
  nextWebhooks,
  trimWebhookEvents,
} from './sql/old-deliveries.ts';

/** Longer than it is tried, and a weekend: whoever finds it dead then can still replay it. */
const DELIVERY_RETENTION_MS = 7 * 86_400_000;
/** A webhook keeps so many, some 50 KiB each. Until its turn comes, it may have more. */
const DELIVERIES_PER_WEBHOOK_MAX = 1_000;
/** So many wait for a webhook, 200 bytes to 64 KiB each. The same holds. */
const WAITING_EVENTS_MAX = 10_000;
/** Looked at in one run: some milliseconds of the database's time for each that has so many. */
const WEBHOOKS_MAX = 100;
/** Deleted in one transaction. */
const EVENTS_MAX = 10_000;
const DELIVERIES_MAX = 1_000;
const TRANSACTIONS_MAX = 20;

const LIMITS = { waitingEventsMax: WAITING_EVENTS_MAX, deliveriesMax: DELIVERIES_PER_WEBHOOK_MAX };

/** Deletes events whose webhook is gone, and then what is too much or too old of each webhook. */
export const webhookData = ({ waitingEventsMax, deliveriesMax } = LIMITS): UpkeepJob => ({
  name: 'webhooks',
  transactionsMax: TRANSACTIONS_MAX,
  run: inOrder(
    byAge({
      keptMs: 0,
      lotMax: EVENTS_MAX,
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
