/** The outcomes of a send, as the engine counts them, and its state as people read it. */

import type { StateText } from '../texts/outcomes.ts';
import { sentWithErrors, stateTexts } from '../texts/outcomes.ts';

export interface Counts {
  readonly totalCount: number;
  readonly successCount: number;
  readonly failedCount: number;
  readonly skippedCount: number;
  readonly expiredCount: number;
  readonly cancelledCount: number;
}

/** A notification, or its part for one app and platform. */
export interface Sending extends Counts {
  readonly state: string;
  /** While it runs, and something of its audience was looked at. */
  readonly estimatedTotalCount?: number | undefined;
}

export type OutcomeKind = 'accepted' | 'failed' | 'expired' | 'skipped' | 'cancelled' | 'remaining';

/** How many devices have an outcome. */
export const doneOf = (counts: Counts): number =>
  counts.successCount +
  counts.failedCount +
  counts.skippedCount +
  counts.expiredCount +
  counts.cancelledCount;

/** About how many devices it is for; null: not known yet. */
export const expectedOf = (sending: Sending): number | null =>
  isFinal(sending.state) ? sending.totalCount : (sending.estimatedTotalCount ?? null);

/** Its counts, against all devices that it is for as far as somebody knows. */
export const expectedCounts = (sending: Sending): Counts => ({
  ...sending,
  totalCount: expectedOf(sending) ?? sending.totalCount,
});

/** In the order in which they are shown; those that always stand there, and those that occurred. */
export function outcomesOf(
  counts: Counts,
): readonly { readonly kind: OutcomeKind; readonly count: number }[] {
  const all = [
    { kind: 'accepted', count: counts.successCount },
    { kind: 'failed', count: counts.failedCount },
    { kind: 'expired', count: counts.expiredCount },
    { kind: 'skipped', count: counts.skippedCount },
    { kind: 'cancelled', count: counts.cancelledCount },
    { kind: 'remaining', count: Math.max(0, counts.totalCount - doneOf(counts)) },
  ] as const;
  return all.filter(({ kind, count }) => count > 0 || kind === 'accepted' || kind === 'failed');
}

/** Fewer failures are apps that were uninstalled, which every large send meets. */
const ERRORS_SHARE_MIN = 0.1;

/** The state of a notification, or of its part for one app and platform, in words. */
export function standingOf({ state, failedCount, totalCount }: Sending): StateText {
  const hasErrors = failedCount > 0 && failedCount >= totalCount * ERRORS_SHARE_MIN;
  if (state === 'FINISHED' && hasErrors) return sentWithErrors;
  return stateTexts[state] ?? { label: state, sign: '', kind: 'skipped' };
}

/** States in which nothing more happens. */
export const isFinal = (state: string): boolean =>
  state === 'FINISHED' || state === 'FAILED' || state === 'CANCELLED';
