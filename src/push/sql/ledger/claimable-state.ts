/**
 * Which notifications are claimed from, and when what waits in them is due: shared by the look and
 * both claims, so that what was paused meanwhile stays where it is, wherever it waited.
 */

import type { Sql } from '../../../database/sql.ts';

/**
 * Whether notification `n` may be claimed. The rest of a cancelled one is claimed too, to be
 * counted and not sent.
 */
export const isClaimable = (sql: Sql) => sql`n.state in ('RUNNING', 'CANCELLED')`;

/**
 * Whether a row of `chunks` of notification `n` is available. A chunk that is only counted need not
 * wait for its provider; a parked one is never available. (A million retries may wait: for them the
 * two states are two questions, each with an index that fits.)
 */
export const isAvailable = (sql: Sql) => sql`(
  available_at <= case when n.state = 'CANCELLED' then 'infinity'::timestamptz else now() end
  and parked_at is null
)`;
