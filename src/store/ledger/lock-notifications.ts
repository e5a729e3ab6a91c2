/**
 * Locks notifications, in the order of their ids, for the transaction that records progress on
 * them. All progress on one notification is thereby one after the other, on whatever node: so
 * whoever brings its open work to 0 sees every count before his, and finishes it exactly once.
 */

import type { Sql } from '../sql.ts';

/**
 * `no key update`: new retries and chunks, which only reference the notification, need not wait.
 */
export const lockNotifications = (sql: Sql, ids: readonly string[]) => sql`
  select id from notifications where id = any(${[...ids]}::uuid[]) order by id for no key update`;
