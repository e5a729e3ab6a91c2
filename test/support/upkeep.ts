/** Runs one job of housekeeping by itself. */

import type { SqlPool } from '../../src/database/sql.ts';
import type { UpkeepJob } from '../../src/database/upkeep-job.ts';
import { runUpkeepJob } from '../../src/database/upkeep-job.ts';

export interface Upkeep {
  run(nowMs: number): Promise<void>;
}

export const upkeepOf = (sql: SqlPool, job: UpkeepJob): Upkeep => ({
  run: (nowMs) => runUpkeepJob(job, { sql, nowMs }),
});
