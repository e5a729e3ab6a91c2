/**
 * Which notifications are claimed from, and when what waits in them is due: shared by the look and
 * both claims, so that what was paused meanwhile stays where it is, wherever it waited.
 */

import type { Sql } from '../../../database/sql.ts';

/**
 * Of the notification `n`: of a cancelled one what is left is claimed too, counted and not sent.
 */
export const isClaimable = (sql: Sql) => sql`n.state in ('RUNNING', 'CANCELLED')`;

/**
 * Of a row of `chunks`, and of its notification `n`: what is counted only need not wait for its
 * provider. What is parked is available never. (Of retries a million may wait: for them the two
 * states are two questions, each with an index that fits.)
 */
export const isAvailable = (sql: Sql) => sql`(
  available_at <= case when n.state = 'CANCELLED' then 'infinity'::timestamptz else now() end
  and parked_at is null
)`;
