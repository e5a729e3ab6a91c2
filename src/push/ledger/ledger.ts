/**
 * The only writer of progress in a process: records the reports of all workers, one transaction at
 * a time. While the database is down, reports and workers wait.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DedicatedConnection } from '../../database/dedicated-connection.ts';
import { PLANS_ARE_KEPT } from '../../database/dedicated-connection.ts';
import { faultOf } from '../../database/faults.ts';
import type { Store } from '../../database/store.ts';
import { notificationScopeKeyOf } from '../../domain/notification.ts';
import type { Progress } from '../../domain/progress.ts';
import { backoffMs } from '../../std/backoff.ts';
import { Batcher } from '../../std/batcher.ts';
import type { Clock } from '../../std/clock.ts';
import { failureText } from '../../std/failure-text.ts';
import type { HistogramReading } from '../../std/histogram.ts';
import { Histogram } from '../../std/histogram.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import type { ScopeStanding } from '../sql/ledger/read-standings.ts';
import { recordProgress } from '../sql/ledger/record-progress.ts';
import { rememberObservations } from './device-observations.ts';
import type { Reply } from './reply.ts';

/**
 * A statement stays far below a second.
 * @limit reports recorded in a transaction → the next transaction
 */
const REPORTS_PER_TRANSACTION_MAX = 256;
/** @limit rows in them → the next transaction */
const ROWS_PER_TRANSACTION_MAX = 16_384;
/** @limit between tries to record while the database is away → without end; workers wait */
const OUTAGE_BACKOFF = { baseMs: 100, capMs: 2_000 };

/** From a commit without a queue to a database that was away for a while. */
const RECORD_BOUNDS_SECONDS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60];

interface LedgerOptions {
  readonly store: Pick<Store, 'sql' | 'openDedicatedConnection'>;
  readonly feed: IndexFeed;
  readonly leaseMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly journal: Pick<JobJournal, 'ended'>;
  onRecorded(report: Progress): void;
}

/** How recording goes, for the metrics. */
export interface LedgerReading {
  readonly recordSeconds: HistogramReading;
  readonly reportsWaiting: number;
  /** Age of the oldest report that waits, at most; 0: none waits. */
  readonly lagSeconds: number;
  readonly failedAttempts: number;
}

export class Ledger {
  private readonly options: LedgerOptions;
  /** A dedicated connection: the batcher runs one transaction at a time. */
  private readonly connection: DedicatedConnection;
  private readonly batcher: Batcher<Progress, Reply>;
  private readonly recordSeconds = new Histogram(RECORD_BOUNDS_SECONDS);
  /** Reports that are not recorded yet, and when the oldest of them came, or before. */
  private waiting = 0;
  private waitingSinceMs = 0;
  private failedAttempts = 0;

  constructor(options: LedgerOptions) {
    this.options = options;
    this.connection = options.store.openDedicatedConnection(PLANS_ARE_KEPT);
    this.batcher = new Batcher<Progress, Reply>({
      itemsMax: REPORTS_PER_TRANSACTION_MAX,
      weightMax: ROWS_PER_TRANSACTION_MAX,
      weightOf: rowsOf,
      run: (reports) => this.recordAll(reports),
    });
  }

  /** Resolves when the report is durable or refused. A chunk has one under way at a time. */
  record(progress: Progress): Promise<Reply> {
    if (this.waiting === 0) this.waitingSinceMs = performance.now();
    this.waiting += 1;
    return this.batcher.submit(progress);
  }

  get reading(): LedgerReading {
    const { waiting, waitingSinceMs, failedAttempts } = this;
    return {
      recordSeconds: this.recordSeconds.reading,
      reportsWaiting: waiting,
      lagSeconds: waiting === 0 ? 0 : (performance.now() - waitingSinceMs) / 1_000,
      failedAttempts,
    };
  }

  /** Resolves when everything reported so far is recorded. */
  drain(): Promise<void> {
    return this.batcher.drain();
  }

  private async recordAll(reports: readonly Progress[]): Promise<readonly Reply[]> {
    const startedMs = performance.now();
    const isAll = reports.length === this.waiting;
    const replies = await this.recordWhole(reports);
    this.recordSeconds.observe((performance.now() - startedMs) / 1_000);
    this.waiting -= reports.length;
    // Those that wait now came meanwhile, if this transaction took all that waited.
    if (isAll) this.waitingSinceMs = startedMs;
    reports.forEach((report, i) => {
      if (replies[i]?.kind === 'recorded') this.options.onRecorded(report);
    });
    const { store, feed, log } = this.options;
    await rememberObservations({ sql: store.sql, feed, log }, reports);
    return replies;
  }

  private async recordWhole(reports: readonly Progress[]): Promise<readonly Reply[]> {
    for (let attempt = 1; ; attempt += 1) {
      const sentAtMs = this.options.clock.monotonicMs();
      try {
        const recorded = await recordProgress(this.connection, reports, this.options.leaseMs);
        this.options.journal.ended(recorded.ended);
        const standings = byScope(recorded.standings);
        return reports.map((report) =>
          recorded.lost.has(report)
            ? LOST
            : replyOn(standings.get(notificationScopeKeyOf(report)), sentAtMs),
        );
      } catch (error) {
        const fault = faultOf(error);
        if (fault === 'data' || fault === 'bug') return this.recordApart(reports, error);
        this.failedAttempts += 1;
        this.options.log.warn({ err: error }, 'progress cannot be recorded; trying again');
        await sleep(backoffMs(OUTAGE_BACKOFF, attempt));
      }
    }
  }

  /** Records each report alone: one that the database refuses must not fail the others. */
  private async recordApart(
    reports: readonly Progress[],
    error: unknown,
  ): Promise<readonly Reply[]> {
    if (reports.length === 1) {
      this.options.log.error({ err: error }, 'a report of progress was refused');
      return [{ kind: 'refused', reason: failureText(error) }];
    }
    const replies: Reply[] = [];
    for (const report of reports) replies.push(...(await this.recordWhole([report])));
    return replies;
  }
}

const LOST: Reply = { kind: 'lost' };

const rowsOf = (report: Progress): number =>
  report.observations.length +
  (report.failures?.length ?? 0) +
  (report.kind === 'chunk' ? report.retries.length : report.settlements.length);

const byScope = (standings: readonly ScopeStanding[]): ReadonlyMap<string, ScopeStanding> =>
  new Map(standings.map((standing) => [notificationScopeKeyOf(standing), standing]));

/** The reply to a recorded report. Without a standing the notification has been deleted. */
function replyOn(standing: ScopeStanding | undefined, sentAtMs: number): Reply {
  if (standing === undefined) return LOST;
  const { state, fault, hasDelivered } = standing;
  return { kind: 'recorded', sentAtMs, state, fault, hasDelivered };
}
