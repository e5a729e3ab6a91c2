/** How fast a send goes, by what was counted from time to time. */

import type { Counts, Progress } from './outcomes.ts';
import { doneOf } from './outcomes.ts';

export interface Sample {
  readonly atMs: number;
  /** Devices that the provider has answered for: not those that a cancellation left out. */
  readonly answered: number;
}

/** Samples that a chart shows: ten minutes at one a second. */
export const SAMPLES_MAX = 600;
/** A rate is the mean over so long: the engine counts slow sends a block of devices at a time. */
const WINDOW_MS = 10_000;
/** A mean over less is none. */
const SPAN_MS_MIN = 1_000;

export function withSample(
  samples: readonly Sample[],
  counts: Counts,
  atMs: number,
): readonly Sample[] {
  const answered = counts.successCount + counts.failedCount;
  return [...samples, { atMs, answered }].slice(-SAMPLES_MAX);
}

/** Devices a second over the last ten; 0 as long as it is not known. */
export const rateOf = (samples: readonly Sample[]): number => ratesOf(samples).at(-1)?.rate ?? 0;

/** The rate at each sample, over the ten seconds before it; none for the first second. */
export function ratesOf(
  samples: readonly Sample[],
): readonly { readonly atMs: number; readonly rate: number }[] {
  let before = 0;
  return samples.flatMap(({ atMs, answered }) => {
    while ((samples[before + 1]?.atMs ?? atMs) <= atMs - WINDOW_MS) before += 1;
    const first = samples[before];
    if (first === undefined || atMs - first.atMs < SPAN_MS_MIN) return [];
    return [{ atMs, rate: ((answered - first.answered) / (atMs - first.atMs)) * 1_000 }];
  });
}

/** The time that the rest takes at this rate; null: not known. */
export function leftMsOf(counts: Progress, ratePerSecond: number): number | null {
  if (counts.totalCount === null) return null;
  const left = counts.totalCount - doneOf(counts);
  if (left <= 0) return 0;
  return ratePerSecond <= 0 ? null : (left / ratePerSecond) * 1_000;
}
