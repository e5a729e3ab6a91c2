/**
 * Sending: accept → planner → claimer → dispatcher → workers → ledger. Processes that send share
 * the ledger in the database, and nothing else.
 */

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { watchClock } from '../database/maintenance/clock-watch.ts';
import type { Store } from '../database/store.ts';
import type { Progress } from '../domain/progress.ts';
import type { ProviderOrigins } from '../providers/origins.ts';
import { TestSends } from '../providers/test-sends.ts';
import type { Clock } from '../std/clock.ts';
import { systemClock } from '../std/clock.ts';
import type { ThreadVitals } from '../std/thread-vitals.ts';
import { within } from '../std/within.ts';
import { resolveMetrics } from '../tag-index/metrics.ts';
import type { RedisAddress } from '../tag-index/redis/connect.ts';
import { countUndone } from '../tag-index/sql/count-undone.ts';
import type { IndexFeed, TagIndex } from '../tag-index/tag-index.ts';
import type { JobJournal } from '../telemetry/job-journal.ts';
import type { Metric } from '../telemetry/metric.ts';
import type { Evaluator } from '../templates/evaluator.ts';
import type { TransportLimits, TransportName } from '../transport/transport.ts';
import { Accept } from './accept/accept.ts';
import { AtOnce } from './dispatch/at-once.ts';
import { Audiences } from './dispatch/audiences.ts';
import type { AuthorizationSource, CredentialSource } from './dispatch/authorizer.ts';
import { Authorizer } from './dispatch/authorizer.ts';
import { CircuitBreakers } from './dispatch/circuit-breakers.ts';
import { Claimer } from './dispatch/claimer.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { Heartbeat } from './dispatch/heartbeat.ts';
import { LeftOut } from './dispatch/left-out.ts';
import { Named } from './dispatch/named.ts';
import { Pacer } from './dispatch/pacer.ts';
import { Payloads } from './dispatch/payloads.ts';
import { QuotaLeaser } from './dispatch/quota-leaser.ts';
import { StandingWatch } from './dispatch/standing-watch.ts';
import { Stranded } from './dispatch/stranded.ts';
import { Warmer } from './dispatch/warmer.ts';
import { WorkerPool } from './dispatch/worker-pool.ts';
import { Deletions } from './ledger/deletions.ts';
import { Ledger } from './ledger/ledger.ts';
import { ledgerMetrics, partMetrics } from './metrics/job-metrics.ts';
import { circuitMetric, providerMetrics } from './metrics/provider-metrics.ts';
import { SendCounts } from './metrics/send-counts.ts';
import { Planner } from './plan/planner.ts';
import { WavePlanner } from './plan/wave-planner.ts';
import { openBroadcast } from './protocol/broadcast.ts';
import type { Presence } from './protocol/presence.ts';
import type { GiveBack, WorkerSettings } from './protocol/task.ts';
import type { ProviderReading } from './protocol/worker-totals.ts';
import { releaseAllLeases } from './sql/ledger/release-all-leases.ts';

/**
 * SIGTERM leaves ten seconds.
 * @limit sends of a node that stops: to the end of a block (`withinMs`), and until answers that do
 * not come are `unknown` (`answersWithinMs`) → left to the leases; an unknown one is sent again
 */
const DRAIN: GiveBack = { withinMs: 3_000, answersWithinMs: 6_000 };
/** @limit sends of a node that stops are recorded → left to the leases */
const DRAIN_MS_MAX = 7_000;
/** @limit last word of the threads that such a node has ended → left to the leases */
const LAST_WORD_MS = 1_000;

interface FanOutOptions {
  readonly store: Store;
  readonly tagIndex: TagIndex;
  readonly feed: IndexFeed;
  /** Where workers find the tag index. Null: in the database. */
  readonly redis: RedisAddress | null;
  readonly threads: number;
  readonly presence: Presence;
  readonly leaseMs: number;
  readonly logLevel: string;
  readonly log: Logger;
  readonly journal: JobJournal;
  readonly credentials: CredentialSource;
  readonly authorizations: AuthorizationSource;
  readonly origins: ProviderOrigins;
  readonly evaluator: Evaluator;
  /** See ContentParts. */
  readonly replaceableDefault: boolean;
  readonly transport: TransportName;
  /** Connections of one credential to one host, of all threads together. */
  readonly connectionsMax: number;
  /** Limits for tests, which cannot wait for the providers' own. */
  readonly limits?: Partial<TransportLimits>;
  onRecorded(report: Progress): void;
}

export interface FanOut {
  readonly accept: Accept;
  readonly testSends: TestSends;
  readonly circuitBreakers: CircuitBreakers;
  readonly workerVitals: () => readonly ThreadVitals[];
  readonly providers: () => readonly ProviderReading[];
  readonly metrics: readonly Metric[];
  /** Stops claiming, lets sends end, records them, gives back the rest, ends threads. Bounded. */
  drain(): Promise<void>;
}

export async function startFanOut(options: FanOutOptions): Promise<FanOut> {
  const { store, feed, log, journal, presence, origins, threads } = options;
  const { sql, patientReads } = store;
  const heartbeat = await beginLife(store, presence, systemClock, log);
  const circuitBreakers = new CircuitBreakers(log);
  const { pool, broadcast } = openWorkers(options, circuitBreakers);
  const counts = new SendCounts();
  const ledger = new Ledger({
    ...options,
    clock: systemClock,
    onRecorded(report) {
      counts.note(report);
      options.onRecorded(report);
    },
  });
  const authorizer = new Authorizer(options.credentials, options.authorizations);
  const authorize = (appId: number, platformId: number) => authorizer.authorize(appId, platformId);
  const { planner, claimer, dispatcher } = createDispatch(options, { pool, ledger, authorizer });
  const accept = new Accept({
    ...options,
    sql,
    patientReads,
    isSimulated: (platformId) => origins.simulated.includes(platformId),
    atOnce: new AtOnce({ store, claimer, isAnyUnplanned: () => planner.isBehind }),
    onAccepted: () => planner.wake(),
  });
  const deletions = new Deletions({
    sql,
    feed,
    log,
    onHeld: (platformId, devices) => counts.noteHeld(platformId, devices),
  });
  const warmer = new Warmer({ sql, authorizer, broadcast, threads, log });
  const stranded = new Stranded(sql, log, journal);
  const standingWatch = new StandingWatch({
    sql,
    log,
    underWayFor: (ms) => dispatcher.underWayFor(ms),
    tell: (orders) => dispatcher.tell(orders),
  });
  const waves = new WavePlanner({ ...options, sql });
  const ending = [planner, waves, deletions, warmer, stranded];
  for (const part of [...ending, claimer, standingWatch]) part.start();
  return {
    accept,
    testSends: new TestSends({ ...options, authorize }),
    circuitBreakers,
    workerVitals: () => pool.vitals,
    providers: () => pool.totals.reading.providers,
    metrics: [
      ...counts.metrics,
      circuitMetric(() => circuitBreakers.readings),
      ...providerMetrics(() => pool.totals.reading.providers),
      ...resolveMetrics(() => pool.totals.reading.resolved),
      ...ledgerMetrics(() => ledger.reading),
      ...partMetrics(() => dispatcher.reading),
    ],
    async drain() {
      await atMost(DRAIN_MS_MAX, async () => {
        await Promise.all(ending.map((part) => part.stop()));
        await claimer.drain(DRAIN);
        await Promise.all([standingWatch.stop(), ledger.drain()]);
      });
      broadcast.close();
      await pool.destroy();
      await atMost(LAST_WORD_MS, () => claimer.drain(DRAIN));
      await atMost(LAST_WORD_MS, () => heartbeat?.stop() ?? Promise.resolve());
    },
  };
}

/** The worker threads, and the channel on which all threads hear of a scope. */
function openWorkers(options: FanOutOptions, circuitBreakers: CircuitBreakers) {
  const { store, log, threads } = options;
  const settings: WorkerSettings = {
    address: store.address,
    redis: options.redis,
    origins: options.origins,
    transport: options.transport,
    logLevel: options.logLevel,
    presence: options.presence.memory,
    broadcast: `tagcast-fan-out-${randomUUID()}`,
    limits: {
      ...options.limits,
      connectionsMax: Math.max(1, Math.floor(options.connectionsMax / threads)),
    },
  };
  const broadcast = openBroadcast(settings.broadcast, (message) => {
    if (message.kind === 'circuit')
      circuitBreakers.hear(message.threadId, message.scopeKeys, message.openFor);
  });
  const pool = new WorkerPool(threads, settings, (error) =>
    log.error({ err: error }, 'a worker thread has died'),
  );
  return { pool, broadcast };
}

interface Sinks {
  readonly pool: WorkerPool;
  readonly ledger: Ledger;
  readonly authorizer: Authorizer;
}

/** From a due push to tasks: the planner feeds the claimer, which wakes it when there is room. */
function createDispatch(options: FanOutOptions, { pool, ledger, authorizer }: Sinks) {
  const { store, log, journal, leaseMs, presence, origins } = options;
  const { sql } = store;
  const clock = systemClock;
  const audiences = new Audiences(sql, clock);
  const leftOut = new LeftOut(sql, clock);
  const named = new Named(sql);
  const dispatcher = new Dispatcher({
    ledger,
    pool,
    authorizer,
    quotas: new QuotaLeaser({ sql, clock, log, origins }),
    pacer: new Pacer({ sql, clock, log }),
    leaseMs,
    journal,
    countUndone: async (chunk) =>
      countUndone(
        sql,
        chunk,
        await audiences.of(chunk),
        (await leftOut.ofChunk(chunk)) ?? undefined,
        (await named.ofChunk(chunk)) ?? undefined,
      ),
    audiences,
    payloads: new Payloads(sql, clock),
    leftOut,
    named,
    clock,
    log,
  });
  const claimer = new Claimer({
    store,
    slots: pool.slots,
    reservedSlots: pool.reservedSlots,
    leaseMs,
    presence,
    clock,
    log,
    authorize: (appId, platformId) => authorizer.authorize(appId, platformId),
    start: (claimed, authorization, batch) => dispatcher.start(claimed, authorization, batch),
    onRoom: () => planner.wake(),
  });
  const planner: Planner = new Planner({
    store,
    log,
    journal,
    fullQueues: () => claimer.fullQueues(),
    onPlanned: (planned) => claimer.offer(planned),
  });
  return { planner, claimer, dispatcher };
}

/**
 * The embedded database has one process, which releases all leases. On PostgreSQL a heartbeat lets
 * other nodes take over.
 */
async function beginLife(
  store: Store,
  presence: Presence,
  clock: Clock,
  log: Logger,
): Promise<Heartbeat | null> {
  // Before anything is claimed: the clock may have been wrong until the process before ended.
  await watchClock(store.sql, log);
  if (store.address.kind === 'embedded') {
    await store.sql.begin(releaseAllLeases);
    return null;
  }
  const heartbeat = new Heartbeat({ store, presence, clock, log });
  await heartbeat.start();
  return heartbeat;
}

/** Work that is not done in time is left to the leases, which end by themselves. */
const atMost = (limitMs: number, work: () => Promise<void>): Promise<void> =>
  within(limitMs, work(), undefined);
