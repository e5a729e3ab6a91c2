/** Plans what is due, where its audience is: woken by every accepted push, and looking by itself for what was scheduled or left by others. */

import type { Logger } from 'pino';
import { Bell } from '../std/bell.ts';
import { planDue } from '../store/notifications/plan-due.ts';
import type { Sql } from '../store/sql.ts';
import type { TagIndex } from '../tag-index/tag-index.ts';
import { surveyDue } from './survey.ts';

/** How late a scheduled push may begin. */
const POLL_INTERVAL_MS = 250;

export interface PlannerOptions {
  readonly sql: Sql;
  readonly tagIndex: TagIndex;
  readonly log: Logger;
  /** Something has been planned. */
  readonly onPlanned: () => void;
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
    const { sql, tagIndex, log, onPlanned } = this.options;
    try {
      const survey = await surveyDue(sql, tagIndex);
      if (survey === null) return 0;
      const planned = await planDue(sql, survey);
      if (planned.length > 0) onPlanned();
      return planned.length;
    } catch (error) {
      log.warn({ err: error }, 'nothing can be planned; trying again');
      return 0;
    }
  }
}
