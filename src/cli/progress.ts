/** Shows the progress of a long command: a bar on a terminal, elsewhere a line now and then. */

import type { Clock } from '../std/clock.ts';
import { systemClock } from '../std/clock.ts';
import { counted, format } from '../std/counted.ts';

export interface ProgressOutput {
  readonly isTerminal: boolean;
  write(text: string): void;
}

interface Standing {
  readonly done: number;
  readonly total: number | null;
  /** Counted for the rate, and named by `noun`. */
  readonly count: number;
}

/** No more often than an eye can follow. */
const BAR_EVERY_MS = 200;
/** A log of an hour's import stays readable. */
const LINE_EVERY_MS = 5_000;
const BAR_WIDTH = 24;
/** Moves to the first column and clears the line. */
const CLEAR_LINE = '\r\x1b[K';

export class Progress {
  private readonly output: ProgressOutput;
  private readonly noun: string;
  private readonly clock: Pick<Clock, 'monotonicMs'>;
  private readonly startedAtMs: number;
  private atStart: Standing | null = null;
  private shownAtMs: number;
  private isBarShown = false;

  constructor(
    output: ProgressOutput,
    /** In the singular. */
    noun: string,
    clock: Pick<Clock, 'monotonicMs'> = systemClock,
  ) {
    this.output = output;
    this.noun = noun;
    this.clock = clock;
    this.startedAtMs = clock.monotonicMs();
    this.shownAtMs = output.isTerminal ? Number.NEGATIVE_INFINITY : this.startedAtMs;
  }

  /** Shows the progress if it is time. The count at the first call is from an earlier run. */
  show(standing: Standing): void {
    this.atStart ??= standing;
    const nowMs = this.clock.monotonicMs();
    const everyMs = this.output.isTerminal ? BAR_EVERY_MS : LINE_EVERY_MS;
    if (nowMs - this.shownAtMs < everyMs) return;
    this.shownAtMs = nowMs;
    const text = this.describe(standing, nowMs);
    this.output.write(this.output.isTerminal ? `${CLEAR_LINE}${text}` : `${text}\n`);
    this.isBarShown = this.output.isTerminal;
  }

  clear(): void {
    if (this.isBarShown) this.output.write(CLEAR_LINE);
    this.isBarShown = false;
  }

  private describe({ done, total, count }: Standing, nowMs: number): string {
    const seconds = Math.max((nowMs - this.startedAtMs) / 1_000, 0.001);
    const rate = Math.round((count - (this.atStart?.count ?? 0)) / seconds);
    const text = `${counted(count, this.noun)}  ${format(rate)}/s`;
    if (total === null || total === 0) return text;
    const share = Math.min(1, done / total);
    const percent = `${Math.floor(share * 100)} %`.padStart(5);
    const left = timeLeft(total - done, (done - (this.atStart?.done ?? 0)) / seconds);
    if (!this.output.isTerminal) return `${percent}  ${text}${left}`;
    const full = Math.round(share * BAR_WIDTH);
    return `[${'#'.repeat(full)}${'.'.repeat(BAR_WIDTH - full)}] ${percent}  ${text}${left}`;
  }
}

/** Whole seconds, or minutes and seconds. Nothing as long as nothing is to be concluded from. */
function timeLeft(rest: number, perSecond: number): string {
  if (rest <= 0 || perSecond <= 0) return '';
  const seconds = Math.ceil(rest / perSecond);
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `  ${seconds} s left` : `  ${minutes} min ${seconds % 60} s left`;
}
