/** How fast a send goes, by what was counted from time to time. */

import type { Counts } from './outcomes.ts';
import { doneOf } from './outcomes.ts';

export interface Sample {
  readonly atMs: number;
  readonly done: number;
}

/** Samples that a chart shows: ten minutes at one a second. */
export const SAMPLES_MAX = 600;
/** The rate is that of the last seconds. */
const WINDOW_MS = 5_000;

export function withSample(
  samples: readonly Sample[],
  counts: Counts,
  atMs: number,
): readonly Sample[] {
  return [...samples, { atMs, done: doneOf(counts) }].slice(-SAMPLES_MAX);
}

/** Devices a second over the last moments; 0 as long as it is not known. */
export function rateOf(samples: readonly Sample[]): number {
  const last = samples.at(-1);
  if (last === undefined) return 0;
  const first = samples.find(({ atMs }) => atMs >= last.atMs - WINDOW_MS);
  if (first === undefined || first.atMs === last.atMs) return 0;
  return ((last.done - first.done) / (last.atMs - first.atMs)) * 1_000;
}

/** The rate between each two samples, at the later one's time. */
export const ratesOf = (
  samples: readonly Sample[],
): readonly { readonly atMs: number; readonly rate: number }[] =>
  samples.slice(1).map(({ atMs, done }, index) => {
    const before = samples[index];
    const spanMs = before === undefined ? 0 : atMs - before.atMs;
    return { atMs, rate: spanMs === 0 ? 0 : ((done - (before?.done ?? 0)) / spanMs) * 1_000 };
  });

/** The time that the rest takes at this rate; null: not known. */
export function leftMsOf(counts: Counts, ratePerSecond: number): number | null {
  const left = counts.totalCount - doneOf(counts);
  if (left <= 0) return 0;
  return ratePerSecond < 1 ? null : (left / ratePerSecond) * 1_000;
}
