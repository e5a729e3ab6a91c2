/**
 * Reports what a task has finished: every 50 ms or so, one report on its way at a time. A slow one
 * reports each second what it has begun, and signs of life keep its lease.
 */

import type { Progress } from '../../domain/progress.ts';
import type { Reply } from '../ledger/reply.ts';
import type { Report } from '../protocol/task.ts';

/**
 * Twenty transactions a second are few for a database; a report gathers thousands of devices.
 * @limit between reports of a task that has news; without news it reports every quarter of its
 * lease
 */
const REPORT_EVERY_MS = 50;
/**
 * Its publisher sees a slow send go on each second. A fast one has reported before.
 * @limit looks whether a task that has reported nothing else has something to show
 */
const LOOK_EVERY_MS = 500;

interface ReporterOptions {
  readonly report: Report;
  /** Null: nothing to report. `isSignOfLife`: an empty one instead, if the task needs it. */
  readonly take: (isSignOfLife: boolean) => Progress | null;
  readonly heard: (reply: Reply, progress: Progress) => void;
  /** Whether reports go out at once, instead of waiting to cover more. */
  readonly isUrgent: () => boolean;
  readonly signOfLifeEveryMs: number;
  /** Whether a sign of life would show something new. Absent: never. */
  readonly hasNews?: () => boolean;
}

export class Reporter {
  private readonly options: ReporterOptions;
  private readonly heartbeat: NodeJS.Timeout;
  private timer: NodeJS.Timeout | null = null;
  private onItsWay: Promise<void> | null = null;
  private isUrged = false;
  /** Looks since the last report. */
  private looks = 0;

  constructor(options: ReporterOptions) {
    this.options = options;
    const everyMs = Math.min(options.signOfLifeEveryMs, LOOK_EVERY_MS);
    const ofLife = Math.floor(options.signOfLifeEveryMs / everyMs);
    this.heartbeat = setInterval(() => this.look(ofLife), everyMs);
  }

  /** Call it when something has finished. */
  poke(): void {
    if (this.options.isUrgent()) this.urge();
    else this.timer ??= setTimeout(() => this.urge(), REPORT_EVERY_MS);
  }

  /** Reports now, or as soon as the report before is answered. */
  urge(): void {
    this.stopTimer();
    if (this.onItsWay === null) this.tell(false);
    else this.isUrged = true;
  }

  /** Resolves when all are answered. `last` is called after the answer to the report before. */
  async finish(last: () => Progress | null): Promise<void> {
    this.stop();
    while (this.onItsWay !== null) await this.onItsWay;
    const progress = last();
    if (progress !== null) await this.send(progress);
  }

  /** Starts no more reports or signs of life: a task that failed must not keep its lease. */
  stop(): void {
    this.stopTimer();
    clearInterval(this.heartbeat);
    this.isUrged = false;
  }

  /** `ofLife`: after so many looks without a report its lease needs one. */
  private look(ofLife: number): void {
    if (this.onItsWay !== null) return;
    this.looks += 1;
    const isShown = this.looks > 1 && this.options.hasNews?.();
    if (this.looks >= ofLife || isShown) this.tell(true);
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
    this.looks = 0;
    this.options.heard(await this.options.report(progress), progress);
  }

  private stopTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}
