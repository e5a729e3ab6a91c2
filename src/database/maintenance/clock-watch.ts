/** Watches the database's clock: nothing must wait for a time that it was wrong about. */

import type { Logger } from 'pino';
import type { SqlPool } from '../sql.ts';
import type { UpkeepJob } from '../upkeep-job.ts';
import { noteClock } from './set-back-clock.ts';

/** Logs that the clock was set back since the last call. */
export async function watchClock(sql: SqlPool, log: Logger): Promise<void> {
  const byMs = await noteClock(sql);
  if (byMs === 0) return;
  log.warn(
    { byMs: Math.round(byMs) },
    "the database's clock was set back: what waited for a time that it was wrong about goes on",
  );
}

export const clockWatch = (log: Logger): UpkeepJob => ({
  name: "the database's clock",
  transactionsMax: 1,
  run: ({ sql }) => watchClock(sql, log),
});
