/** Begins an import: from now on every registration of the app is written, repetitions too. */

import { readClock } from '../../database/read-clock.ts';
import type { Sql } from '../../database/sql.ts';

/**
 * The database's time of the beginning. A registration committed after it has a later time in its
 * row, or repeats one that has (decision 42). A look that read before counts as before.
 */
export async function beginImport(sql: Sql, appId: number): Promise<number> {
  const nowMs = await readClock(sql);
  await sql`
    update app_platforms set repetitions_written_from = to_timestamp(${nowMs}::float8 / 1000) where app_id = ${appId}`;
  return nowMs;
}
