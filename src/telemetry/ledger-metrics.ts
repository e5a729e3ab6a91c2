/** Metrics of the work on push jobs: what waits, what is under way, and what is recorded. */

import type { Registry } from 'prom-client';
import type { HistogramReading } from '../std/histogram.ts';
import { readCounter, readGauge, readHistogram } from './read-metrics.ts';

/** The ledger of this process. */
export interface LedgerReading {
  readonly recordSeconds: HistogramReading;
  /** Reports that are not recorded yet, and the age of the oldest at most. */
  readonly reportsWaiting: number;
  readonly lagSeconds: number;
  /** Transactions that the database did not take, and that were tried again. */
  readonly failedAttempts: number;
}

/** By kind of part: chunks, and batches of retries. */
type PartCounts = Readonly<Record<'chunk' | 'retries', number>>;

/** The parts that this process has claimed. */
export interface PartsReading {
  /** Since the start. */
  readonly claimed: PartCounts;
  readonly underWay: PartCounts;
}

/** What waits in the database, of all nodes; counted up to a bound. */
export interface BacklogReading {
  /** By state. */
  readonly jobs: Readonly<Record<string, number>>;
  readonly chunks: number;
  readonly retries: number;
}

export function registerLedgerMetrics(registry: Registry, read: () => LedgerReading): void {
  readHistogram(
    registry,
    {
      name: 'tagcast_ledger_record_seconds',
      help: 'Time to record a transaction of reports, failed attempts included.',
    },
    () => [[{}, read().recordSeconds]],
  );
  readGauge(
    registry,
    {
      name: 'tagcast_ledger_reports_waiting',
      help: 'Reports of worker threads that are not recorded yet.',
    },
    () => [[{}, read().reportsWaiting]],
  );
  readGauge(
    registry,
    {
      name: 'tagcast_ledger_lag_seconds',
      help: 'Age of the oldest report that is not recorded yet, at most.',
    },
    () => [[{}, read().lagSeconds]],
  );
  readCounter(
    registry,
    {
      name: 'tagcast_ledger_failed_attempts_total',
      help: 'Attempts to record reports that failed and were repeated: the database was away.',
    },
    () => [[{}, read().failedAttempts]],
  );
}

export function registerPartsMetrics(registry: Registry, read: () => PartsReading): void {
  readCounter(
    registry,
    {
      name: 'tagcast_parts_claimed_total',
      help: 'Parts of push jobs that this process has claimed: `chunk` or `retries`.',
      labelNames: ['kind'],
    },
    () => byKind(read().claimed),
  );
  readGauge(
    registry,
    {
      name: 'tagcast_parts_under_way',
      help: 'Parts of push jobs that this process has under way: `chunk` or `retries`.',
      labelNames: ['kind'],
    },
    () => byKind(read().underWay),
  );
}

const byKind = (counts: PartCounts) =>
  Object.entries(counts).map(([kind, count]) => [{ kind }, count] as const);

export function registerBacklogMetrics(
  registry: Registry,
  read: () => BacklogReading | null,
): void {
  readGauge(
    registry,
    {
      name: 'tagcast_backlog_jobs',
      help: 'Push jobs of all nodes that have not ended. This and the next two are counted in the database, up to 10,000, as of the scrape before; they are absent while the database does not answer.',
      labelNames: ['state'],
    },
    () => Object.entries(read()?.jobs ?? {}).map(([state, count]) => [{ state }, count]),
  );
  readGauge(
    registry,
    { name: 'tagcast_backlog_chunks', help: 'Chunks that are not all sent.' },
    () => known(read()?.chunks),
  );
  readGauge(
    registry,
    { name: 'tagcast_backlog_retries', help: 'Devices that are tried again.' },
    () => known(read()?.retries),
  );
}

const known = (count: number | undefined) => (count === undefined ? [] : [[{}, count] as const]);
