/** Waits until connections to the database wait for a lock of another. */

import type { Sql } from '../../src/database/sql.ts';
import { until } from './poll.ts';

/**
 * Throws with `what` after half a minute. `sql`: not the transaction that holds the lock, which
 * sees the activity as it was when it first asked.
 */
export const untilLockWaits = (what: string, sql: Sql, connections = 1): Promise<true> =>
  until(what, async () => {
    const waiting = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return waiting.length >= connections ? true : null;
  });
