/**
 * Ends PGlite's log where it has grown: PostgreSQL leaves that to its checkpointer, and PGlite has
 * no processes beside it. A start after a crash would read all of it.
 */

import type { SqlPool } from '../sql.ts';

/**
 * A start after a crash reads it, and a checkpoint holds up all statements for a moment.
 * @limit MiB of the embedded database's log since its last checkpoint → the next checkpoint
 */
const LOG_MIB_MAX = 64;
const MIB = 1_048_576;

/** Answers whether the log was long, and a checkpoint was made. */
export async function checkpointLongLog(sql: SqlPool): Promise<boolean> {
  const [log] = await sql<{ isLong: boolean }[]>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn) > ${LOG_MIB_MAX * MIB}::bigint as "isLong"
    from pg_control_checkpoint()`;
  if (log?.isLong !== true) return false;
  await sql`checkpoint`;
  return true;
}
