/**
 * Locks notifications, in the order of their ids, for the transaction that records progress on
 * them. So transactions record progress on one notification one after the other, on all nodes: the
 * one that brings its open work to 0 sees every earlier count, and finishes it exactly once.
 */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';

/**
 * `no key update`: new retries and chunks, which only reference the notification, need not wait.
 */
export const lockNotifications = (sql: Sql, ids: readonly string[]) => sql`
  select id from notifications where id = any(${list(ids)}::uuid[]) order by id for no key update`;
