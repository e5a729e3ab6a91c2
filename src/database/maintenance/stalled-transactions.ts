/**
 * Ends transactions of frozen clients where PostgreSQL's time-outs do not work: between messages of
 * a statement, and before the statement that sets the time-outs (`transact`) ends. Their locks
 * would stop every other node.
 */

import type { Sql } from '../sql.ts';
import { APPLICATION_NAME } from '../sql.ts';

/** Ends those of this role and application that were silent for `silentForMs`; answers how many. */
export async function endStalledTransactions(sql: Sql, silentForMs: number): Promise<number> {
  // Materialized: else PostgreSQL might call it before the conditions, and end all sessions.
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
