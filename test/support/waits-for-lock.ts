/** Whether some connection to the database waits for a lock of another. */

import type { Sql } from '../../src/store/sql.ts';

export async function waitsForLock(sql: Sql): Promise<boolean> {
  const waiting = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return waiting.length > 0;
}
