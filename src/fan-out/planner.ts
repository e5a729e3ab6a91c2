/**
 * Plans what is due, where its audience is: woken by every accepted push, and looking by itself for what was scheduled or left by others.
 * A push that is due at once is surveyed while it is being written down, so that the smallest of them waits for one thing less.
 */

import type { Logger } from 'pino';
import { Bell } from '../std/bell.ts';
import type { PlannedNotification, Survey } from '../store/notifications/plan-due.ts';
import { PLANNED_AT_ONCE_MAX, planDue } from '../store/notifications/plan-due.ts';
import type { Sql } from '../store/sql.ts';
import type { TagIndex } from '../tag-index/tag-index.ts';
import type { ExpectedPush } from './survey.ts';
import { surveyAhead, surveyDue } from './survey.ts';

/** How late a scheduled push may begin. */
const POLL_INTERVAL_MS = 250;
/** More pushes at once are surveyed together, by one question for all of them. */
const AHEAD_MAX = 4;

export interface PlannerOptions {
  readonly sql: Sql;
  readonly tagIndex: TagIndex;
  readonly log: Logger;
  /** These have been planned: one at least. */
  readonly onPlanned: (planned: readonly PlannedNotification[]) => void;
}

export class Planner {
  private readonly options: PlannerOptions;
  private readonly bell = new Bell();
  /** Surveys that are under way of pushes that are not accepted yet. */
  private surveying = 0;
  /** Of accepted ones; each resolves with null when it has failed. */
  private readonly ahead: Promise<Survey | null>[] = [];
  /** By then it looks, whatever keeps coming. 0: at once, for something may be due that was not surveyed. */
  private nextLookAtMs = 0;
  private isStopping = false;
  private loop: Promise<void> = Promise.resolve();

  constructor(options: PlannerOptions) {
    this.options = options;
  }

  start(): void {
    this.loop = this.run();
  }

  /** A push is about to be accepted; answers what to call when it is. */
  expect(push: ExpectedPush): () => void {
    if (this.surveying + this.ahead.length >= AHEAD_MAX) return () => this.askForLook();
    const { sql, tagIndex, log } = this.options;
    this.surveying += 1;
    const survey = surveyAhead(sql, tagIndex, push)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'an audience was not surveyed; it is when the push is planned');
        return null;
      })
      .finally(() => {
        this.surveying -= 1;
      });
    return () => {
      this.ahead.push(survey);
      this.bell.ring();
    };
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    this.bell.ring();
    await this.loop;
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      await this.round();
      if (this.ahead.length === 0) await this.bell.wait(Math.max(0, this.lookInMs));
    }
  }

  private async round(): Promise<void> {
    const { sql, log, onPlanned } = this.options;
    try {
      const survey = (await this.takeAhead()) ?? (await this.look());
      if (survey === null) return;
      const planned = await planDue(sql, survey);
      // As many were due as are planned at once: there may be more.
      const isFull = survey.notificationIds.length === PLANNED_AT_ONCE_MAX;
      if (planned.length > 0 && isFull) this.askForLook();
      if (planned.length > 0) onPlanned(planned);
    } catch (error) {
      log.warn({ err: error }, 'nothing can be planned; trying again');
    }
  }

  private askForLook(): void {
    this.nextLookAtMs = 0;
    this.bell.ring();
  }

  private get lookInMs(): number {
    return this.nextLookAtMs - performance.now();
  }

  private look(): Promise<Survey | null> {
    this.nextLookAtMs = performance.now() + POLL_INTERVAL_MS;
    return surveyDue(this.options.sql, this.options.tagIndex);
  }

  /** Null: nothing was surveyed ahead, one of the surveys has failed, or it is time to look, which finds all of these pushes too. */
  private async takeAhead(): Promise<Survey | null> {
    const ahead = this.ahead.splice(0);
    if (ahead.length === 0 || this.lookInMs <= 0) return null;
    const all = await Promise.all(ahead);
    const surveys = all.filter((survey) => survey !== null);
    if (surveys.length < all.length) return null;
    return {
      notificationIds: surveys.flatMap(({ notificationIds }) => notificationIds),
      vacant: surveys.flatMap(({ vacant }) => vacant),
    };
  }
}
