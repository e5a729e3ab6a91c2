/**
 * Plans what is due: woken by every accepted push, and looking by itself for what was scheduled or
 * left by others.
 */

import type { Logger } from 'pino';
import { Bell } from '../../std/bell.ts';
import type { DueLine, PlannedNotification } from '../../store/notifications/plan-due.ts';
import { LARGE_AT_ONCE_MAX, planDue } from '../../store/notifications/plan-due.ts';
import type { Sql } from '../../store/sql.ts';

/** How late a scheduled push may begin. */
const POLL_INTERVAL_MS = 250;

export interface PlannerOptions {
  readonly sql: Sql;
  readonly log: Logger;
  /** Lines of which enough is planned and waits in memory: the rest of them waits where it is. */
  readonly fullLines: () => readonly DueLine[];
  /** These have been planned: one at least. */
  readonly onPlanned: (planned: readonly PlannedNotification[]) => void;
}

export class Planner {
  private readonly options: PlannerOptions;
  private readonly bell = new Bell();
  private isStopping = false;
  private loop: Promise<void> = Promise.resolve();

  constructor(options: PlannerOptions) {
    this.options = options;
  }

  start(): void {
    this.loop = this.run();
  }

  /** A push that is due at once has been accepted, or a line is full no more. */
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
      await this.look();
      await this.bell.wait(POLL_INTERVAL_MS);
    }
  }

  private async look(): Promise<void> {
    const { sql, log, fullLines, onPlanned } = this.options;
    try {
      const planned = await planDue(sql, fullLines());
      // Perhaps not all that were due.
      if (planned.length >= LARGE_AT_ONCE_MAX) this.bell.ring();
      if (planned.length > 0) onPlanned(planned);
    } catch (error) {
      log.warn({ err: error }, 'nothing can be planned; trying again');
    }
  }
}
