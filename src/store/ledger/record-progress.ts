/** Records, in one transaction, all reports of the workers of this process since the last one. */

import type { ChunkProgress, Progress, RetryProgress } from '../../domain/progress.ts';
import type { Line } from '../line.ts';
import { finishNotifications } from './finish-notifications.ts';
import { lockNotifications } from './lock-notifications.ts';
import type { ScopeStanding } from './read-standings.ts';
import { readStandings } from './read-standings.ts';
import type { ChunkStanding } from './record-chunks.ts';
import { recordChunks } from './record-chunks.ts';
import { recordRetries } from './record-retries.ts';
import type { ScopeFault } from './set-faults.ts';
import { setFaults } from './set-faults.ts';
import type { ScopeWait } from './set-waits.ts';
import { setWaits } from './set-waits.ts';

export interface RecordedProgress {
  /** Reports that came too late: another claim holds their chunk. */
  readonly lost: ReadonlySet<Progress>;
  readonly standings: readonly ScopeStanding[];
}

/**
 * Records all reports. When it throws, it has recorded all, some or none of them. The caller can
 * repeat it, because each report counts once. The reports are about different chunks.
 */
export function recordProgress(
  line: Line,
  reports: readonly Progress[],
  leaseMs: number,
): Promise<RecordedProgress> {
  const ids = [...new Set(reports.map((report) => report.notificationId))];
  const chunks = reports.filter((report): report is ChunkProgress => report.kind === 'chunk');
  const retries = reports.filter((report): report is RetryProgress => report.kind === 'retries');
  const faults = reports.filter((report): report is Progress & ScopeFault => report.fault !== null);
  const waits = reports.filter(isWaiting);
  return line.transactAtOnce(async (tx) => {
    const [, chunkStandings, , , , , standings] = await Promise.all([
      lockNotifications(tx, ids),
      chunks.length > 0 ? recordChunks(tx, chunks, leaseMs) : [],
      retries.length > 0 ? recordRetries(tx, retries) : [],
      faults.length > 0 ? setFaults(tx, faults) : [],
      waits.length > 0 ? setWaits(tx, waits) : [],
      finishNotifications(tx, ids),
      readStandings(tx, ids),
    ]);
    return { lost: lostOf(chunks, chunkStandings), standings };
  });
}

const isWaiting = (report: Progress): report is Progress & ScopeWait =>
  report.waitingFor !== undefined;

const lostOf = (
  chunks: readonly ChunkProgress[],
  standings: readonly ChunkStanding[],
): ReadonlySet<Progress> =>
  new Set(
    standings.filter(({ isLost }) => isLost).flatMap(({ position }) => chunks[position] ?? []),
  );
