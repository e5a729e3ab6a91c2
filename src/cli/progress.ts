/** How far a long command is: a bar on a terminal, a line now and then anywhere else. */

import type { Clock } from '../std/clock.ts';
import { systemClock } from '../std/clock.ts';

export interface ProgressOutput {
  readonly isTerminal: boolean;
  write(text: string): void;
}

/** How much is done; `total` null: nobody knows how much there is. */
export interface Standing {
  readonly done: number;
  readonly total: number | null;
  /** Counted for the rate, and named by `unit`. */
  readonly count: number;
}

/** As often as an eye can follow. */
const BAR_EVERY_MS = 200;
/** A log of an hour's import stays readable. */
const LINE_EVERY_MS = 5_000;
const BAR_WIDTH = 24;
/** Back to the first column, and everything after it gone. */
const CLEAR_LINE = '\r\x1b[K';

export class Progress {
  private readonly output: ProgressOutput;
  private readonly unit: string;
  private readonly clock: Pick<Clock, 'monotonicMs'>;
  private readonly startedAtMs: number;
  private countAtStart: number | null = null;
  private shownAtMs: number;
  private isBarShown = false;

  constructor(
    output: ProgressOutput,
    unit: string,
    clock: Pick<Clock, 'monotonicMs'> = systemClock,
  ) {
    this.output = output;
    this.unit = unit;
    this.clock = clock;
    this.startedAtMs = clock.monotonicMs();
    this.shownAtMs = output.isTerminal ? Number.NEGATIVE_INFINITY : this.startedAtMs;
  }

  /** Shows it if it is time. What was there at the first call was not done in this run. */
  show(standing: Standing): void {
    this.countAtStart ??= standing.count;
    const nowMs = this.clock.monotonicMs();
    const everyMs = this.output.isTerminal ? BAR_EVERY_MS : LINE_EVERY_MS;
    if (nowMs - this.shownAtMs < everyMs) return;
    this.shownAtMs = nowMs;
    const text = this.describe(standing, nowMs);
    this.output.write(this.output.isTerminal ? `${CLEAR_LINE}${text}` : `${text}\n`);
    this.isBarShown = this.output.isTerminal;
  }

  /** Takes the bar away, for a line to be printed in its place. */
  clear(): void {
    if (this.isBarShown) this.output.write(CLEAR_LINE);
    this.isBarShown = false;
  }

  private describe({ done, total, count }: Standing, nowMs: number): string {
    const seconds = (nowMs - this.startedAtMs) / 1_000;
    const rate = Math.round((count - (this.countAtStart ?? 0)) / Math.max(seconds, 0.001));
    const text = `${format(count)} ${this.unit}  ${format(rate)}/s`;
    if (total === null || total === 0) return text;
    const share = Math.min(1, done / total);
    const percent = `${Math.floor(share * 100)} %`.padStart(5);
    if (!this.output.isTerminal) return `${percent}  ${text}`;
    const full = Math.round(share * BAR_WIDTH);
    return `[${'#'.repeat(full)}${'.'.repeat(BAR_WIDTH - full)}] ${percent}  ${text}`;
  }
}

/** `1,234,567` */
export const format = (count: number): string => count.toLocaleString('en');
