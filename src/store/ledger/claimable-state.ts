/**
 * Which notifications are claimed from, and when what waits in them is due: shared by the look and
 * both claims, so that what was paused meanwhile stays where it is, wherever it waited.
 */

import type { Fragment, Sql } from '../sql.ts';

/**
 * Of the notification `n`: of a cancelled one what is left is claimed too, counted and not sent.
 */
export const isClaimable = (sql: Sql) => sql`n.state in ('RUNNING', 'CANCELLED')`;

/**
 * Of a row whose time is `at`, and of its notification `n`: what is counted only need not wait for
 * its provider. What is parked is due never. One comparison, for which an index can be used: a
 * million may wait.
 */
export const isDue = (sql: Sql, at: Fragment) => sql`(
  ${at} <= case when n.state = 'CANCELLED' then 'infinity'::timestamptz else now() end
  and parked_at is null
)`;
