/** Parks parts that no claim can finish: each claim repeats unrecorded sends (decision 39). */

import type { Counts } from '../../domain/notification.ts';
import type { Progress } from '../../domain/progress.ts';
import { PARKED } from '../../domain/progress.ts';
import { SUSPECT_AFTER } from '../sql/ledger/claim-chunks.ts';
import type { Claimed } from './claimed.ts';
import { releaseOf } from './claimed.ts';

/**
 * Two beside other parts, and three with no other suspect on its node (decision 39).
 * @limit claims of a part without progress until it is parked → its devices end as `failed`,
 * `Parked`
 */
export const CLAIMS_WITHOUT_PROGRESS_MAX = 5;

/** Claims of the part without progress, this one included. */
const claimsWithoutProgress = (claimed: Claimed): number =>
  claimed.kind === 'chunk'
    ? claimed.chunk.claimsWithoutProgress
    : Math.max(...claimed.retries.claimsWithoutProgress);

/** Whether the part is a suspect: a node holds one at a time. */
export const isSuspect = (claimed: Claimed): boolean =>
  claimsWithoutProgress(claimed) > SUSPECT_AFTER;

/** Whether the part is to be parked instead of sent. */
export const isHopeless = (claimed: Claimed): boolean =>
  claimsWithoutProgress(claimed) > CLAIMS_WITHOUT_PROGRESS_MAX;

/**
 * A database that is away for a moment must not cost a part its count.
 * @limit claims of a part that is to be parked and cannot be counted → parked, none of its devices
 * counts
 */
const UNCOUNTED_CLAIMS_MAX = 3;

/** Whether the part is to be parked although its devices could not be counted. */
export const isCountHopeless = (claimed: Claimed): boolean =>
  claimsWithoutProgress(claimed) >= CLAIMS_WITHOUT_PROGRESS_MAX + UNCOUNTED_CLAIMS_MAX;

/** Why the last claim failed, in words. */
export const lastFailureOf = (claimed: Claimed): string => {
  const { lastFailure } = claimed.kind === 'chunk' ? claimed.chunk : claimed.retries;
  return lastFailure ?? 'the worker or node that had it was lost';
};

/** Counts the part's devices as failed, and closes it. `devices`: those of a chunk not done. */
export function parkingOf(claimed: Claimed, devices: number, nowMs: number): Progress {
  const failure = lastFailureOf(claimed);
  const release = releaseOf(claimed, 0, nowMs);
  if (release.kind === 'chunk') {
    const counts: Counts = { ...release.counts, total: devices, failed: devices };
    const reasons = devices === 0 ? [] : [[PARKED, devices] as const];
    return { ...release, failure, counts, reasons, releaseAfterMs: null, isParked: true };
  }
  const claims = claimed.kind === 'retries' ? claimed.retries.claimsWithoutProgress : [];
  const settlements = release.settlements.map((settlement, index) =>
    settlement.ending === null && (claims[index] ?? 0) > CLAIMS_WITHOUT_PROGRESS_MAX
      ? { ...settlement, ending: 'failed' as const, reason: PARKED }
      : settlement,
  );
  return { ...release, failure, settlements, isParked: true };
}

export const devicesParkedBy = (report: Progress): number =>
  report.kind === 'chunk'
    ? report.counts.failed
    : report.settlements.filter(({ ending }) => ending === 'failed').length;
