/** Metrics of the work on push jobs: what waits, what is under way, and what is recorded. */

import type { Metric } from '../../telemetry/metric.ts';
import { known, seriesBy } from '../../telemetry/metric.ts';
import type { PartsReading } from '../dispatch/dispatcher.ts';
import type { LedgerReading } from '../ledger/ledger.ts';
import type { QueueReading } from '../sql/read-queue.ts';

export const ledgerMetrics = (read: () => LedgerReading): readonly Metric[] => [
  {
    type: 'histogram',
    name: 'tagcast_ledger_record_seconds',
    help: 'Time to record a transaction of reports, failed attempts included.',
    read: () => [[{}, read().recordSeconds]],
  },
  {
    type: 'gauge',
    name: 'tagcast_ledger_reports_waiting',
    help: 'Reports of worker threads that are not recorded yet.',
    read: () => known(read().reportsWaiting),
  },
  {
    type: 'gauge',
    name: 'tagcast_ledger_lag_seconds',
    help: 'Age of the oldest report that is not recorded yet, at most.',
    read: () => known(read().lagSeconds),
  },
  {
    type: 'counter',
    name: 'tagcast_ledger_failed_attempts_total',
    help: 'Attempts to record reports that failed and were repeated: the database was away.',
    read: () => known(read().failedAttempts),
  },
];

/** The parts that this process has claimed. */
export const partMetrics = (read: () => PartsReading): readonly Metric[] => [
  {
    type: 'counter',
    name: 'tagcast_parts_claimed_total',
    help: 'Parts of push jobs that this process has claimed: `chunk` or `retries`.',
    labels: ['kind'],
    read: () => seriesBy('kind', read().claimed),
  },
  {
    type: 'gauge',
    name: 'tagcast_parts_under_way',
    help: 'Parts of push jobs that this process has under way: `chunk` or `retries`.',
    labels: ['kind'],
    read: () => seriesBy('kind', read().underWay),
  },
];

/** Work that waits in the database, counted up to a bound. `read`: null while unknown. */
export const backlogMetrics = (read: () => QueueReading | null): readonly Metric[] => [
  {
    type: 'gauge',
    name: 'tagcast_backlog_jobs',
    help: 'Push jobs of all nodes that have not ended. This and the next two are counted in the database, up to 10,000, as of the scrape before; they are absent while the database does not answer.',
    labels: ['state'],
    read: () => seriesBy('state', read()?.jobs ?? {}),
  },
  {
    type: 'gauge',
    name: 'tagcast_backlog_chunks',
    help: 'Chunks that are not all sent.',
    read: () => known(read()?.chunks ?? null),
  },
  {
    type: 'gauge',
    name: 'tagcast_backlog_retries',
    help: 'Devices that are tried again.',
    read: () => known(read()?.retries ?? null),
  },
];
