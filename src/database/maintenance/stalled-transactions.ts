/**
 * Ends transactions whose client is frozen, in the two cases in which PostgreSQL's time-outs do not
 * work: between the messages of a statement (a new one takes two round trips), when PostgreSQL
 * takes the session for active; and before the end of the statement that sets the time-outs
 * (`transact`). The locks would stop every other node until the client wakes.
 */

import type { Sql } from '../sql.ts';
import { APPLICATION_NAME } from '../sql.ts';

/** Ends those of this role and application that were silent for `silentForMs`; answers how many. */
export async function endStalledTransactions(sql: Sql, silentForMs: number): Promise<number> {
  // Materialized: otherwise PostgreSQL might evaluate the call before the conditions, and end all
  // sessions.
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
