/** Which notifications are claimed from, and when: shared by the look and both claims. */

import type { Sql } from '../../../database/sql.ts';

/** The rest of a cancelled one is claimed too, to be counted and not sent. */
export const isClaimable = (sql: Sql) => sql`n.state in ('RUNNING', 'CANCELLED')`;

/**
 * A chunk that is only counted does not wait for its provider; a parked one is never available.
 * (For a million retries the two states are two questions, each with an index.)
 */
export const isAvailable = (sql: Sql) => sql`(
  available_at <= case when n.state = 'CANCELLED' then 'infinity'::timestamptz else now() end
  and parked_at is null
)`;
