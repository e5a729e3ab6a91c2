/** Plans what is due: woken by every accepted push, and looking by itself for what was scheduled or left by others. */

import type { Logger } from 'pino';
import { Bell } from '../std/bell.ts';
import { planDue } from '../store/notifications/plan-due.ts';
import { purgeIdempotencyKeys } from '../store/notifications/purge-idempotency-keys.ts';
import type { Sql } from '../store/sql.ts';

/** How late a scheduled push may begin. */
const POLL_INTERVAL_MS = 250;
/** Keys are void after 24 hours by themselves; this is for the disk. */
const PURGE_INTERVAL_MS = 3_600_000;

export interface PlannerOptions {
  readonly sql: Sql;
  readonly log: Logger;
  /** Something has been planned. */
  readonly onPlanned: () => void;
}

export class Planner {
  private readonly options: PlannerOptions;
  private readonly bell = new Bell();
  private isStopping = false;
  private loop: Promise<void> = Promise.resolve();
  private purgedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: PlannerOptions) {
    this.options = options;
  }

  start(): void {
    this.loop = this.run();
  }

  /** Something may be due. */
  wake(): void {
    this.bell.ring();
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.bell.ring();
    await this.loop;
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      const planned = await this.round();
      if (planned === 0) await this.bell.wait(POLL_INTERVAL_MS);
    }
  }

  private async round(): Promise<number> {
    const { sql, log, onPlanned } = this.options;
    try {
      const planned = await planDue(sql);
      if (planned.length > 0) onPlanned();
      if (performance.now() - this.purgedAtMs >= PURGE_INTERVAL_MS) {
        this.purgedAtMs = performance.now();
        await purgeIdempotencyKeys(sql);
      }
      return planned.length;
    } catch (error) {
      log.warn({ err: error }, 'nothing can be planned; trying again');
      return 0;
    }
  }
}
