/**
 * Keeps the statistics of tags and apps: counts the notifications that have ended by day. A bounded
 * piece at a time, on any node and on several at once.
 */

import type { SqlPool } from '../database/sql.ts';
import { TransactionBudget } from '../database/transaction-budget.ts';
import { countEnded, listEnded } from './count-ended.ts';

/**
 * Notifications counted in one transaction: each may have a thousand tags. With TRANSACTIONS_MAX it
 * is 10,000 a second, ten times what a node sends.
 */
const NOTIFICATIONS_MAX = 500;
const TRANSACTIONS_MAX = 200;

/** Does a bounded piece of the work. */
export async function keepStatistics(sql: SqlPool): Promise<void> {
  for (const piece of [listEnded, countEnded]) {
    const budget = new TransactionBudget(TRANSACTIONS_MAX);
    await budget.empty(NOTIFICATIONS_MAX, () => piece(sql, NOTIFICATIONS_MAX));
  }
}
