/**
 * Ends transactions whose client has stopped: it was frozen between the messages of a statement (a
 * new one takes two round trips), when PostgreSQL takes the session for active and applies none of
 * its time-outs, or before the statement that sets them (`transact`) was through. Its locks would
 * stop every other node until the frozen one wakes.
 */

import type { Sql } from '../sql.ts';
import { APPLICATION_NAME } from '../sql.ts';

/**
 * Ends those of this role and application that have been silent for so long; answers how many there
 * were.
 */
export async function endStalledTransactions(sql: Sql, silentForMs: number): Promise<number> {
  // Materialized: a condition beside the others might be asked before them, and would end
  // everybody.
  const ended = await sql`
    with stalled as materialized (
      select pid from pg_stat_activity
      where datname = current_database() and usename = current_user
        and application_name = ${APPLICATION_NAME}
        and state <> 'idle' and wait_event = 'ClientRead'
        and state_change < now() - ${silentForMs}::integer * interval '1 millisecond'
    )
    select pg_terminate_backend(pid) from stalled`;
  return ended.length;
}
