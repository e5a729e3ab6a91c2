/**
 * Begins an import: from now on every registration of the app is written, even if it repeats the
 * one before.
 */

import { readClock } from '../../database/read-clock.ts';
import type { Sql } from '../../database/sql.ts';

/**
 * Returns the database's time (epoch milliseconds) of the beginning. A registration that is
 * committed after it has a later time in its row, or repeats one that has. So the import knows that
 * the app registered after the beginning (decision 42). A look that read its devices before the
 * beginning counts as before.
 */
export async function beginImport(sql: Sql, appId: number): Promise<number> {
  const nowMs = await readClock(sql);
  await sql`
    update app_platforms set repetitions_written_from = to_timestamp(${nowMs}::float8 / 1000) where app_id = ${appId}`;
  return nowMs;
}
