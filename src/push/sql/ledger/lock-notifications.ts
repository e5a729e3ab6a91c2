/**
 * Locks notifications in the order of their ids, so that progress on one is recorded in turn, on
 * all nodes: the transaction that brings its open work to 0 finishes it exactly once.
 */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';

/** `no key update`: rows that only reference the notification need not wait. */
export const lockNotifications = (sql: Sql, ids: readonly string[]) => sql`
  select id from notifications where id = any(${list(ids)}::uuid[]) order by id for no key update`;
