/**
 * Parts that nobody brings to their end: a worker dies of them, their task throws, the database
 * refuses their report. Each claim sends again what the one before had sent and not recorded, so
 * after a few the part is parked (decision 39).
 */

import type { Counts } from '../../domain/notification.ts';
import type { Progress } from '../../domain/progress.ts';
import { PARKED } from '../../domain/progress.ts';
import { SUSPECT_AFTER } from '../../store/ledger/claim-chunks.ts';
import type { Claimed } from './claimed.ts';
import { releaseOf } from './claimed.ts';

/**
 * Claims without progress that a part may have: two in company, three with no other suspect beside
 * it on its node. So often no innocent part is near a death, and so often its devices may have got
 * the push.
 */
export const CLAIMS_WITHOUT_PROGRESS_MAX = 5;

/** Of a claim, this one included. */
export const claimsWithoutProgress = (claimed: Claimed): number =>
  claimed.kind === 'chunk'
    ? claimed.chunk.claimsWithoutProgress
    : Math.max(...claimed.retries.claimsWithoutProgress);

/** Whether it is claimed with no other such part beside it. */
export const isSuspect = (claimed: Claimed): boolean =>
  claimsWithoutProgress(claimed) > SUSPECT_AFTER;

/** Whether it is to be parked, not sent. */
export const isHopeless = (claimed: Claimed): boolean =>
  claimsWithoutProgress(claimed) > CLAIMS_WITHOUT_PROGRESS_MAX;

/** What the last claim came to, in words. */
export const lastFailureOf = (claimed: Claimed): string => {
  const { lastFailure } = claimed.kind === 'chunk' ? claimed.chunk : claimed.retries;
  return lastFailure ?? 'the worker or node that had it was lost';
};

/**
 * The report that parks it: its devices are counted as failed, and it is open no more. `devices`:
 * of a chunk, that are left.
 */
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

/** Devices that a report parks. */
export const devicesParkedBy = (report: Progress): number =>
  report.kind === 'chunk'
    ? report.counts.failed
    : report.settlements.filter(({ ending }) => ending === 'failed').length;
