/** Does the periodic work on the database (upkeep-jobs.ts), on any node and on several at once. */

import type { Logger } from 'pino';
import { ObjectIdWatch } from '../../database/maintenance/object-id-watch.ts';
import { readClock } from '../../database/read-clock.ts';
import type { SqlPool } from '../../database/sql.ts';
import type { UpkeepJob } from '../../database/upkeep-job.ts';
import { runUpkeepJob } from '../../database/upkeep-job.ts';
import { UnwantedTags } from '../../devices/unwanted-tags.ts';
import { Recurring } from '../../std/recurring.ts';
import type { UpkeepOptions } from './upkeep-jobs.ts';
import { upkeepJobs } from './upkeep-jobs.ts';

/** @limit between two runs of housekeeping */
const INTERVAL_MS = 10_000;

export class Housekeeping {
  readonly unwantedTags: UnwantedTags;
  readonly #objectIdWatch: ObjectIdWatch;
  readonly #sql: SqlPool;
  readonly #log: Logger;
  readonly #jobs: readonly UpkeepJob[];
  readonly #doneAtMs = new Map<UpkeepJob, number>();
  readonly #stopping = new AbortController();
  readonly #runs = new Recurring(INTERVAL_MS, () => this.#runLogged());

  constructor(options: UpkeepOptions) {
    this.#sql = options.sql;
    this.#log = options.log;
    this.unwantedTags = new UnwantedTags(options);
    this.#objectIdWatch = new ObjectIdWatch(options.log);
    this.#jobs = upkeepJobs(options, {
      unwantedTags: this.unwantedTags,
      objectIdWatch: this.#objectIdWatch,
    });
  }

  /** The share of the ids of tags, groups and apps that was given out; null: not known yet. */
  get objectIdsUsedShare(): number | null {
    return this.#objectIdWatch.usedShare;
  }

  start(): void {
    this.#runs.start();
  }

  /** Takes no new transaction; resolves when the run under way has ended. */
  stop(): Promise<void> {
    this.#stopping.abort();
    return this.#runs.stop();
  }

  /** Every job that is due, also after one that fails. `nowMs`: by the database's clock. */
  async run(nowMs: number): Promise<void> {
    const { signal } = this.#stopping;
    const failed: string[] = [];
    const errors: unknown[] = [];
    for (const job of this.#jobs) {
      if (signal.aborted) break;
      if (!this.#isDue(job, nowMs)) continue;
      try {
        await runUpkeepJob(job, { sql: this.#sql, nowMs, signal });
        this.#doneAtMs.set(job, nowMs);
      } catch (error) {
        failed.push(job.name);
        errors.push(error);
      }
    }
    if (errors.length === 0) return;
    throw new AggregateError(errors, `housekeeping could not do: ${failed.join(', ')}`);
  }

  #isDue(job: UpkeepJob, nowMs: number): boolean {
    const doneAtMs = this.#doneAtMs.get(job) ?? Number.NEGATIVE_INFINITY;
    return nowMs - doneAtMs >= (job.intervalMs ?? Number.NEGATIVE_INFINITY);
  }

  async #runLogged(): Promise<void> {
    try {
      await this.run(await readClock(this.#sql));
    } catch (error) {
      this.#log.error({ err: error }, 'housekeeping failed; it will be tried again');
    }
  }
}
