/**
 * Tells the ledger what a task has finished: a report about every 50 ms, one on its way at a time,
 * and a sign of life when there is nothing to tell for long, so that a slow provider costs no
 * lease.
 */

import type { Progress } from '../../domain/progress.ts';
import type { Verdict } from '../../outcomes/verdict.ts';
import type { Report } from '../protocol/task.ts';

/**
 * Twenty transactions a second are little for a database and late enough to gather thousands of
 * devices.
 */
const REPORT_EVERY_MS = 50;

export interface ReporterOptions {
  readonly report: Report;
  /**
   * What there is to tell; null: nothing. With `isSignOfLife` there always is something, or the
   * task needs none.
   */
  readonly take: (isSignOfLife: boolean) => Progress | null;
  readonly heard: (verdict: Verdict, progress: Progress) => void;
  /** Whether reports should go out without waiting for company. */
  readonly isUrgent: () => boolean;
  readonly signOfLifeEveryMs: number;
}

export class Reporter {
  private readonly options: ReporterOptions;
  private readonly heartbeat: NodeJS.Timeout;
  private timer: NodeJS.Timeout | null = null;
  private onItsWay: Promise<void> | null = null;
  private isUrged = false;

  constructor(options: ReporterOptions) {
    this.options = options;
    this.heartbeat = setInterval(() => {
      if (this.onItsWay === null) this.tell(true);
    }, options.signOfLifeEveryMs);
  }

  /** Something has finished. */
  poke(): void {
    if (this.options.isUrgent()) this.urge();
    else this.timer ??= setTimeout(() => this.urge(), REPORT_EVERY_MS);
  }

  /** Tells what there is to tell now, or as soon as the report before is answered. */
  urge(): void {
    this.stopTimer();
    if (this.onItsWay === null) this.tell(false);
    else this.isUrged = true;
  }

  /**
   * The last report of the task: resolves when all are answered. `last` is composed after the one
   * before.
   */
  async finish(last: () => Progress | null): Promise<void> {
    this.stop();
    while (this.onItsWay !== null) await this.onItsWay;
    const progress = last();
    if (progress !== null) await this.send(progress);
  }

  /**
   * No report begins any more, no sign of life either: a task that failed must not keep its lease.
   */
  stop(): void {
    this.stopTimer();
    clearInterval(this.heartbeat);
    this.isUrged = false;
  }

  private tell(isSignOfLife: boolean): void {
    const progress = this.options.take(isSignOfLife);
    if (progress === null) return;
    this.onItsWay = this.send(progress).then(() => {
      this.onItsWay = null;
      if (this.isUrged) {
        this.isUrged = false;
        this.tell(false);
      }
    });
  }

  private async send(progress: Progress): Promise<void> {
    this.options.heard(await this.options.report(progress), progress);
  }

  private stopTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}
