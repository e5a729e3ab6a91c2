/**
 * Keeps the statistics of tags and apps: counts the notifications that have ended by day, and the
 * subscribers of apps where they are not known. A bounded piece at a time, on any node and on
 * several at once.
 */

import type { SqlPool } from '../database/sql.ts';
import { TransactionBudget } from '../database/transaction-budget.ts';
import { countEnded, listEnded } from './count-ended.ts';
import { recountSubscribers } from './sql/recount-subscribers.ts';

/**
 * Notifications counted in one transaction: each may have a thousand tags. With TRANSACTIONS_MAX it
 * is 10,000 a second, ten times what a node sends.
 * @limit push jobs that have ended, counted by tag, app and day in a transaction → the next one
 */
const NOTIFICATIONS_MAX = 500;
/**
 * @limit such transactions of a run, every 10 s → the next run; until then each is read by itself
 */
const TRANSACTIONS_MAX = 200;
/** @limit (app, platform)s whose subscribers are counted anew → the next run */
const RECOUNTS_MAX = 20;

/** Does a bounded piece of the work. */
export async function keepStatistics(sql: SqlPool): Promise<void> {
  for (const piece of [listEnded, countEnded]) {
    const budget = new TransactionBudget(TRANSACTIONS_MAX);
    await budget.empty(NOTIFICATIONS_MAX, () => piece(sql, NOTIFICATIONS_MAX));
  }
  for (let recounts = 0; recounts < RECOUNTS_MAX; recounts += 1) {
    if (!(await recountSubscribers(sql))) return;
  }
}
