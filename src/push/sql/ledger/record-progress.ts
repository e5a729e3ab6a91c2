/** Records, in one transaction, all reports of the workers of this process since the last one. */

import type { DedicatedConnection } from '../../../database/dedicated-connection.ts';
import type { ChunkProgress, Progress, RetryProgress } from '../../../domain/progress.ts';
import { failedSendsIn, noteFailures } from '../note-failures.ts';
import type { Advance, EndedNotification } from './advance-notifications.ts';
import { advanceNotifications, beginCorrections, unmoved } from './advance-notifications.ts';
import { keepRest } from './keep-rest.ts';
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
import type { SettledPlaces } from './settle-places.ts';
import { settlePlaces, settleRetryPlaces } from './settle-places.ts';

interface RecordedProgress {
  /** Reports that came too late: another claim holds their chunk. */
  readonly lost: ReadonlySet<Progress>;
  readonly standings: readonly ScopeStanding[];
  readonly ended: readonly EndedNotification[];
}

/** The caller can repeat it: each report counts once. The reports are about different chunks. */
export function recordProgress(
  connection: DedicatedConnection,
  reports: readonly Progress[],
  leaseMs: number,
): Promise<RecordedProgress> {
  const ids = [...new Set(reports.map((report) => report.notificationId))];
  const chunks = reports.filter((report): report is ChunkProgress => report.kind === 'chunk');
  const retries = reports.filter((report): report is RetryProgress => report.kind === 'retries');
  const faults = reports.filter((report): report is Progress & ScopeFault => report.fault !== null);
  const waits = reports.filter(isWaiting);
  const failed = failedSendsIn(reports);
  const capped = retries.filter(({ isCapped }) => isCapped === true);
  return connection.transact(
    async (tx) => {
      const [locked, chunkStandings, , endedRetries] = await Promise.all([
        lockNotifications(tx, ids),
        chunks.length > 0 ? recordChunks(tx, chunks, leaseMs) : [],
        capped.length > 0 ? settleRetryPlaces(tx, capped) : [],
        retries.length > 0 ? recordRetries(tx, retries) : [],
        faults.length > 0 ? setFaults(tx, faults) : [],
        waits.length > 0 ? setWaits(tx, waits) : [],
        failed.length > 0 ? noteFailures(tx, failed) : [],
      ]);
      return { locked, chunkStandings, endedRetries };
    },
    async (tx, { locked, chunkStandings, endedRetries }) => {
      const advances = [
        ...chunkStandings.flatMap((standing) => advanceOf(chunks[standing.position], standing)),
        ...retries.map(({ notificationId, sentFromMs, sentToMs }) => ({
          ...unmoved(notificationId),
          sentFromMs,
          sentToMs,
        })),
        ...endedRetries.map(({ notificationId, ended }) => ({
          ...unmoved(notificationId),
          addedRetries: -ended,
        })),
      ];
      const places = settledPlacesIn(chunks, chunkStandings);
      const [, , ended, standings] = await Promise.all([
        // First: with the end of the job, its correction may begin.
        keepRest(tx, locked, reports),
        places.length > 0 ? settlePlaces(tx, places) : [],
        advanceNotifications(tx, sumsOf(ids, advances)),
        readStandings(tx, ids),
      ]);
      await beginCorrections(tx, ended);
      return { lost: lostOf(chunks, chunkStandings), standings, ended };
    },
  );
}

/** The places in the reports that were counted. */
const settledPlacesIn = (
  chunks: readonly ChunkProgress[],
  standings: readonly ChunkStanding[],
): readonly SettledPlaces[] =>
  standings.flatMap(({ position, isCounted }) => {
    const report = chunks[position];
    return isCounted && report?.places !== undefined ? { ...report, places: report.places } : [];
  });

const isWaiting = (report: Progress): report is Progress & ScopeWait =>
  report.waitingFor !== undefined;

/** A report that was not counted means none. */
function advanceOf(
  report: ChunkProgress | undefined,
  { isCounted, isClosed }: ChunkStanding,
): readonly Advance[] {
  if (report === undefined || !isCounted) return [];
  const { notificationId, retries, sentFromMs, sentToMs } = report;
  const closedChunks = Number(isClosed);
  return [{ notificationId, closedChunks, addedRetries: retries.length, sentFromMs, sentToMs }];
}

function sumsOf(ids: readonly string[], advances: readonly Advance[]): readonly Advance[] {
  const sums = new Map(ids.map((id) => [id, unmoved(id)]));
  for (const advance of advances) {
    const { notificationId } = advance;
    const sum = sums.get(notificationId) ?? unmoved(notificationId);
    sums.set(notificationId, {
      notificationId,
      closedChunks: sum.closedChunks + advance.closedChunks,
      addedRetries: sum.addedRetries + advance.addedRetries,
      sentFromMs: least(sum.sentFromMs, advance.sentFromMs),
      sentToMs: greatest(sum.sentToMs, advance.sentToMs),
    });
  }
  return [...sums.values()];
}

const least = (a: number | null, b: number | null): number | null =>
  a === null ? b : Math.min(a, b ?? a);

const greatest = (a: number | null, b: number | null): number | null =>
  a === null ? b : Math.max(a, b ?? a);

const lostOf = (
  chunks: readonly ChunkProgress[],
  standings: readonly ChunkStanding[],
): ReadonlySet<Progress> =>
  new Set(
    standings.filter(({ isLost }) => isLost).flatMap(({ position }) => chunks[position] ?? []),
  );
