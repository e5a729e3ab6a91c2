/** The outcomes of a send, as the engine counts them, and its state as people read it. */

import type { Notification } from '../../../packages/client/src/openapi.ts';
import type { StateText } from '../texts/outcomes.ts';
import { partlyFailed, sentWithErrors, stateTexts } from '../texts/outcomes.ts';
import { platformName } from './format.ts';

export interface Counts {
  readonly totalCount: number;
  readonly successCount: number;
  readonly failedCount: number;
  readonly skippedCount: number;
  readonly expiredCount: number;
  readonly cancelledCount: number;
  /** Absent: none. */
  readonly withheldCount?: number | undefined;
}

/** An app and platform on which a fault stopped a send. */
export interface ScopeFault {
  readonly appId: number;
  readonly platformId: number;
  /** It says what to correct. */
  readonly fault: string;
}

/** A notification, or its part for one app and platform. */
export interface Sending extends Counts {
  readonly state: string;
  readonly faults?: readonly ScopeFault[] | undefined;
  /** Until all are counted, and as far as something of its audience was looked at. */
  readonly estimatedTotalCount?: number | undefined;
}

export type OutcomeKind =
  | 'accepted'
  | 'failed'
  | 'expired'
  | 'skipped'
  | 'cancelled'
  | 'withheld'
  | 'remaining';

/** How many devices have an outcome. */
export const doneOf = (counts: Progress): number =>
  counts.successCount +
  counts.failedCount +
  counts.skippedCount +
  counts.expiredCount +
  counts.cancelledCount +
  (counts.withheldCount ?? 0);

/**
 * About how many devices it is for; null: not known yet. A cancelled one that is still being
 * counted has an estimate.
 */
export const expectedOf = ({ state, estimatedTotalCount, totalCount }: Sending): number | null =>
  estimatedTotalCount ?? (isFinal(state) ? totalCount : null);

/** Counts against a whole; null: it is not known yet. */
export interface Progress extends Omit<Counts, 'totalCount'> {
  readonly totalCount: number | null;
}

/** Its counts, against all devices that it is for as far as somebody knows. */
export const expectedCounts = (sending: Sending): Progress => ({
  ...sending,
  totalCount: expectedOf(sending),
});

/** In the order in which they are shown; those that always stand there, and those that occurred. */
export function outcomesOf(
  counts: Progress,
): readonly { readonly kind: OutcomeKind; readonly count: number }[] {
  const all = [
    { kind: 'accepted', count: counts.successCount },
    { kind: 'failed', count: counts.failedCount },
    { kind: 'expired', count: counts.expiredCount },
    { kind: 'skipped', count: counts.skippedCount },
    { kind: 'cancelled', count: counts.cancelledCount },
    { kind: 'withheld', count: counts.withheldCount ?? 0 },
    { kind: 'remaining', count: Math.max(0, (counts.totalCount ?? 0) - doneOf(counts)) },
  ] as const;
  return all.filter(({ kind, count }) => count > 0 || kind === 'accepted' || kind === 'failed');
}

/** Fewer failures are apps that were uninstalled, which every large send meets. */
const ERRORS_SHARE_MIN = 0.1;

/** The state of a notification, or of its part for one app and platform, in words. */
export function standingOf(sending: Sending): StateText {
  const { state, failedCount, totalCount, faults = [] } = sending;
  if (state === 'FINISHED' && faults.length > 0) {
    const names = faults.map(({ platformId }) => platformName(platformId));
    return partlyFailed([...new Set(names)].join(', '));
  }
  const hasErrors = failedCount > 0 && failedCount >= totalCount * ERRORS_SHARE_MIN;
  if (state === 'FINISHED' && hasErrors) return sentWithErrors;
  return stateTexts[state] ?? { label: state, sign: '', kind: 'skipped' };
}

/** The apps and platforms on which a fault stopped a notification. */
export const faultsOf = ({ platforms }: Pick<Notification, 'platforms'>): readonly ScopeFault[] =>
  platforms.flatMap(({ appId, platformId, fault }) =>
    fault === undefined ? [] : [{ appId, platformId, fault }],
  );

/** The state of a notification, in words, with the platforms that have failed. */
export const standingOfAll = (notification: Notification): StateText =>
  standingOf({ ...notification, faults: faultsOf(notification) });

/** States in which nothing more happens. */
export const isFinal = (state: string): boolean =>
  state === 'FINISHED' || state === 'FAILED' || state === 'CANCELLED';
