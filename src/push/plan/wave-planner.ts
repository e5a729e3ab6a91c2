/** Plans the waves of push jobs when they are due. Each look is one statement where none is. */

import type { Logger } from 'pino';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { Recurring } from '../../std/recurring.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import type { EndedNotification } from '../sql/ledger/advance-notifications.ts';
import {
  advanceNotifications,
  beginCorrections,
  unmoved,
} from '../sql/ledger/advance-notifications.ts';
import type { DueJob, PlannedWave } from '../sql/waves/plan-wave.ts';
import {
  advanceWaves,
  endWaves,
  holdDueJob,
  listDueJobs,
  planNextWaves,
} from '../sql/waves/plan-wave.ts';
import { addNewZones } from './new-zones.ts';

/**
 * How late a wave may begin.
 * @limit between looks for waves that are due
 */
const INTERVAL_MS = 1_000;
/** @limit jobs whose waves are planned in a look → the next look */
const JOBS_MAX = 32;
/** @limit a wave that is due waits for the one before it → looked at again after */
const LOOK_AGAIN_MS = 1_000;

interface WavePlannerOptions {
  readonly sql: SqlPool;
  readonly log: Logger;
  readonly journal: Pick<JobJournal, 'planned' | 'ended'>;
}

export class WavePlanner {
  readonly #options: WavePlannerOptions;
  readonly #looks = new Recurring(INTERVAL_MS, () => this.#runLogged());

  constructor(options: WavePlannerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#looks.start();
  }

  /** Resolves when the look under way has ended. */
  stop(): Promise<void> {
    return this.#looks.stop();
  }

  /** Plans what is due. */
  async run(): Promise<void> {
    const { sql, log, journal } = this.#options;
    for (const job of await listDueJobs(sql, JOBS_MAX)) {
      const startedMs = Date.now();
      try {
        const planned = await transact(sql, (tx) => planWaves(tx, job));
        if (planned === null) continue;
        const { waves, ended, ...times } = planned;
        if (waves.some(({ chunks }) => chunks > 0)) {
          journal.planned([{ ...job, ...times, scopes: waves }], startedMs);
        }
        journal.ended(ended);
      } catch (error) {
        log.warn({ err: error, notificationId: job.id }, 'a wave cannot be planned; trying again');
      }
    }
  }

  async #runLogged(): Promise<void> {
    try {
      await this.run();
    } catch (error) {
      this.#options.log.warn({ err: error }, 'no waves can be planned; trying again');
    }
  }
}

interface Planned {
  readonly waves: readonly PlannedWave[];
  readonly ended: readonly EndedNotification[];
  readonly dueAtMs: number;
  readonly plannedAtMs: number;
}

/** Null: nothing was to be planned. */
async function planWaves(tx: Sql, due: DueJob): Promise<Planned | null> {
  const job = await holdDueJob(tx, due);
  if (job === null) return null;
  if (job.isOver) {
    await endWaves(tx, job);
    return { waves: [], ended: await advance(tx, job.id), dueAtMs: 0, plannedAtMs: 0 };
  }
  await addNewZones(tx, job);
  const waves = await planNextWaves(tx, job);
  const chunks = waves.reduce((sum, wave) => sum + wave.chunks, 0);
  const times = await advanceWaves(tx, job, { chunks, isWave: waves.length > 0 }, LOOK_AGAIN_MS);
  return { waves, ended: await advance(tx, job.id), ...times };
}

/** Ends the job where nothing is left of it: a correction may wait for that. */
async function advance(tx: Sql, id: string): Promise<readonly EndedNotification[]> {
  const ended = await advanceNotifications(tx, [unmoved(id)]);
  await beginCorrections(tx, ended);
  return ended;
}
