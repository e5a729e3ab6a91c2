/** Keeps what webhooks are told bounded: by time, and by number. */

import type { SqlPool } from '../database/sql.ts';
import { TransactionBudget } from '../database/transaction-budget.ts';
import {
  deleteLeftEvents,
  deleteOldDeliveries,
  nextWebhooks,
  trimWebhookEvents,
} from './sql/old-deliveries.ts';

/**
 * Longer than it is tried, and a weekend: whoever finds it dead then can still replay it.
 * @limit deliveries are kept → deleted
 */
const DELIVERY_RETENTION_MS = 7 * 86_400_000;
/**
 * Of a webhook; of some 50 KiB each. Until its turn comes, it may have more.
 * @limit deliveries of a webhook that are kept, and what comes until its turn → the oldest are
 * deleted
 */
const DELIVERIES_PER_WEBHOOK_MAX = 1_000;
/**
 * Of a webhook, waiting; of 200 bytes to 64 KiB each. The same holds.
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

interface WebhookLimits {
  readonly waitingEventsMax: number;
  readonly deliveriesMax: number;
}

export class WebhookDeliveries {
  private readonly sql: SqlPool;
  private readonly limits: WebhookLimits;
  /** The last webhook that has nothing too much. */
  private afterId = 0;

  constructor(
    sql: SqlPool,
    limits = { waitingEventsMax: WAITING_EVENTS_MAX, deliveriesMax: DELIVERIES_PER_WEBHOOK_MAX },
  ) {
    this.sql = sql;
    this.limits = limits;
  }

  /** Runs once; the webhooks take turns. `nowMs`: by the database's clock. */
  async run(nowMs: number): Promise<void> {
    const { sql } = this;
    const budget = new TransactionBudget(TRANSACTIONS_MAX);
    if (!(await budget.empty(EVENTS_MAX, () => deleteLeftEvents(sql, EVENTS_MAX)))) return;
    const { waitingEventsMax, deliveriesMax } = this.limits;
    const old = { beforeMs: nowMs - DELIVERY_RETENTION_MS, deliveriesMax };
    const ids = await nextWebhooks(sql, this.afterId, WEBHOOKS_MAX);
    for (const id of ids) {
      const areTrimmed = await budget.empty(EVENTS_MAX, () =>
        trimWebhookEvents(sql, id, waitingEventsMax, EVENTS_MAX),
      );
      const areDeleted =
        areTrimmed &&
        (await budget.empty(DELIVERIES_MAX, () =>
          deleteOldDeliveries(sql, id, old, DELIVERIES_MAX),
        ));
      // What is left of this one is the first of the next run.
      if (!areDeleted) return;
      this.afterId = id;
    }
    if (ids.length < WEBHOOKS_MAX) this.afterId = 0;
  }
}
