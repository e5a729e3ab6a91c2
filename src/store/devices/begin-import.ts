/**
 * What an import begins with: from now on an app's registration is written also when it repeats the
 * one before.
 */

import { readClock } from '../read-clock.ts';
import type { Sql } from '../sql.ts';

/**
 * Answers the database's time (epoch milliseconds) of the beginning. A registration that is
 * committed after it has a later time in its row, or repeats one that has: so the import can tell
 * that the app spoke after it (decision 42). Lanes that looked at their devices before count as
 * before.
 */
export async function beginImport(sql: Sql, appId: number): Promise<number> {
  const nowMs = await readClock(sql);
  await sql`
    update app_platforms set repetitions_written_from = to_timestamp(${nowMs}::float8 / 1000) where app_id = ${appId}`;
  return nowMs;
}
