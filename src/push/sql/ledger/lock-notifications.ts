/**
 * Locks notifications in the order of their ids, so that progress on one is recorded in turn, on
 * all nodes: the transaction that brings its open work to 0 finishes it exactly once.
 */

import type { Sql } from '../../../database/sql.ts';
import { list } from '../../../database/sql.ts';

/** `no key update`: rows that only reference the notification need not wait. */
export const lockNotifications = (sql: Sql, ids: readonly string[]) => sql<LockedNotification[]>`
  select id, rest_to as "restTo" from notifications
  where id = any(${list(ids)}::uuid[]) order by id for no key update`;

export interface LockedNotification {
  readonly id: string;
  /** The correction that goes to those whom this one is not sent to. Null: none. */
  readonly restTo: string | null;
}
