/**
 * Sending, from the request to the last outcome: accept → planner → claimer → dispatcher → workers
 * → ledger. Every process that sends runs one fan-out. They share the ledger in the database, and
 * nothing else.
 */

import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { ClockWatch } from '../database/maintenance/clock-watch.ts';
import type { Store } from '../database/store.ts';
import type { Progress } from '../domain/progress.ts';
import type { ProviderOrigins } from '../providers/origins.ts';
import { TestSends } from '../providers/test-sends.ts';
import type { Clock } from '../std/clock.ts';
import { systemClock } from '../std/clock.ts';
import type { ThreadVitals } from '../std/thread-vitals.ts';
import { within } from '../std/within.ts';
import type { RedisAddress } from '../tag-index/redis/connect.ts';
import { countUndone } from '../tag-index/sql/count-undone.ts';
import type { IndexFeed, TagIndex } from '../tag-index/tag-index.ts';
import type { JobJournal } from '../telemetry/job-journal.ts';
import type { Evaluator } from '../templates/evaluator.ts';
import type { TransportLimits, TransportName } from '../transport/transport.ts';
import { Accept } from './accept/accept.ts';
import type { AuthorizationSource, CredentialSource } from './dispatch/authorizer.ts';
import { Authorizer } from './dispatch/authorizer.ts';
import { CircuitBreakers } from './dispatch/circuit-breakers.ts';
import { Claimer } from './dispatch/claimer.ts';
import type { PartsReading } from './dispatch/dispatcher.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { Heartbeat } from './dispatch/heartbeat.ts';
import { Pacer } from './dispatch/pacer.ts';
import { QuotaLeaser } from './dispatch/quota-leaser.ts';
import { StandingWatch } from './dispatch/standing-watch.ts';
import { Stranded } from './dispatch/stranded.ts';
import { Warmer } from './dispatch/warmer.ts';
import { WorkerPool } from './dispatch/worker-pool.ts';
import { Deletions } from './ledger/deletions.ts';
import type { LedgerReading } from './ledger/ledger.ts';
import { Ledger } from './ledger/ledger.ts';
import { Planner } from './plan/planner.ts';
import { openBroadcast } from './protocol/broadcast.ts';
import type { Presence } from './protocol/presence.ts';
import type { GiveBack } from './protocol/task.ts';
import type { SendingReading } from './protocol/worker-totals.ts';
import { releaseAllLeases } from './sql/ledger/release-all-leases.ts';

/**
 * SIGTERM leaves ten seconds: tasks get three to reach the end of a block, and three more for the
 * answers to their sends.
 * @limit sends of a node that stops: to the end of a block (`withinMs`), and until answers that do
 * not come are `unknown` (`answersWithinMs`) → left to the leases; an unknown one is sent again
 */
const DRAIN: GiveBack = { withinMs: 3_000, answersWithinMs: 6_000 };
/** @limit sends of a node that stops are recorded → left to the leases */
const DRAIN_MS_MAX = 7_000;
/**
 * The time to give back the parts of the ended threads; leases of the others end by themselves.
 * @limit last word of the threads that such a node has ended → left to the leases
 */
const LAST_WORD_MS = 1_000;

export interface FanOutOptions {
  readonly store: Store;
  readonly tagIndex: TagIndex;
  readonly feed: IndexFeed;
  /** Where workers find the tag index. Null: in the database. */
  readonly redis: RedisAddress | null;
  readonly threads: number;
  /** Says whether this node may send. */
  readonly presence: Presence;
  readonly leaseMs: number;
  readonly logLevel: string;
  readonly log: Logger;
  readonly journal: JobJournal;
  readonly credentials: CredentialSource;
  readonly authorizations: AuthorizationSource;
  readonly origins: ProviderOrigins;
  readonly evaluator: Evaluator;
  readonly transport: TransportName;
  /** Connections of one credential to one host, of all threads together. */
  readonly connectionsMax: number;
  /** Of tests, which cannot wait for the providers' own. */
  readonly limits?: Partial<TransportLimits>;
  /** Called with each report that was recorded, for the metrics. */
  onRecorded(report: Progress): void;
  /** Called when deletions are held, with the number of devices, for the metrics. */
  onHeld(platformId: number, devices: number): void;
}

export interface FanOut {
  readonly accept: Accept;
  readonly testSends: TestSends;
  /** Providers that fail for everyone, for the metrics. */
  readonly circuitBreakers: CircuitBreakers;
  /** The last vitals of each worker thread. */
  readonly workerVitals: () => readonly ThreadVitals[];
  /** What the worker threads have done, for the metrics. */
  readonly sending: () => SendingReading;
  /** How recording goes, and what is under way, for the metrics. */
  readonly ledger: () => LedgerReading;
  readonly parts: () => PartsReading;
  /** Stops claiming, lets sends end, records them, gives back the rest, ends threads. Bounded. */
  drain(): Promise<void>;
}

export async function startFanOut(options: FanOutOptions): Promise<FanOut> {
  const { store, log, journal, leaseMs, presence, origins, transport, logLevel } = options;
  const clock = systemClock;
  const heartbeat = await beginLife(store, presence, clock, log);

  const settings = {
    address: store.address,
    redis: options.redis,
    origins,
    transport,
    logLevel,
    presence: presence.memory,
    broadcast: `tagcast-fan-out-${randomUUID()}`,
    limits: {
      ...options.limits,
      connectionsMax: Math.max(1, Math.floor(options.connectionsMax / options.threads)),
    },
  };
  const circuitBreakers = new CircuitBreakers(log);
  const broadcast = openBroadcast(settings.broadcast, (message) => {
    if (message.kind === 'circuit')
      circuitBreakers.hear(message.threadId, message.scopeKeys, message.openFor);
  });
  const pool = new WorkerPool(options.threads, settings, (error) =>
    log.error({ err: error }, 'a worker thread has died'),
  );
  const ledger = new Ledger({
    store,
    feed: options.feed,
    leaseMs,
    clock,
    log,
    journal,
    onRecorded: options.onRecorded,
  });
  const authorizer = new Authorizer(options.credentials, options.authorizations);
  const quotas = new QuotaLeaser({ sql: store.sql, clock, log, origins });
  const dispatcher = new Dispatcher({
    ledger,
    pool,
    authorizer,
    quotas,
    pacer: new Pacer({ sql: store.sql, clock, log }),
    leaseMs,
    journal,
    countUndone: (chunk) => countUndone(store.sql, chunk, chunk.terms.audience),
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
    start: (claimed, authorization, lot) => dispatcher.start(claimed, authorization, lot),
    onRoom: () => planner.wake(),
  });
  const planner: Planner = new Planner({
    store,
    log,
    journal,
    fullLines: () => claimer.fullLines(),
    onPlanned: (planned) => claimer.offer(planned),
  });
  const accept = new Accept({
    sql: store.sql,
    patientReads: store.patientReads,
    tagIndex: options.tagIndex,
    evaluator: options.evaluator,
    isSimulated: (platformId) => origins.simulated.includes(platformId),
    journal,
    onAccepted: () => planner.wake(),
  });
  const deletions = new Deletions({
    sql: store.sql,
    feed: options.feed,
    log,
    onHeld: options.onHeld,
  });
  const warmer = new Warmer({
    sql: store.sql,
    authorizer,
    broadcast,
    threads: options.threads,
    log,
  });
  const stranded = new Stranded(store.sql, log, journal);
  const standingWatch = new StandingWatch({
    sql: store.sql,
    log,
    underWayFor: (ms) => dispatcher.underWayFor(ms),
    tell: (orders) => dispatcher.tell(orders),
  });
  planner.start();
  claimer.start();
  deletions.start();
  warmer.start();
  stranded.start();
  standingWatch.start();

  return {
    accept,
    testSends: new TestSends({
      origins,
      transport,
      authorize: (appId, platformId) => authorizer.authorize(appId, platformId),
    }),
    circuitBreakers,
    workerVitals: () => pool.vitals,
    sending: () => pool.totals.reading,
    ledger: () => ledger.reading,
    parts: () => dispatcher.reading,
    async drain() {
      await atMost(DRAIN_MS_MAX, async () => {
        await Promise.all([planner.stop(), deletions.stop(), warmer.stop(), stranded.stop()]);
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

/**
 * Prepares for dead nodes. The embedded database has one process: its leases are all of dead ones,
 * so they are released, and no other node takes over. On PostgreSQL a heartbeat lets other nodes
 * take over from this one.
 */
async function beginLife(
  store: Store,
  presence: Presence,
  clock: Clock,
  log: Logger,
): Promise<Heartbeat | null> {
  // Before anything is claimed: the clock may have been wrong until the process before ended.
  await new ClockWatch({ sql: store.sql, log }).run();
  if (store.address.kind === 'embedded') {
    await releaseAllLeases(store.sql);
    return null;
  }
  const heartbeat = new Heartbeat({ store, presence, clock, log });
  await heartbeat.start();
  return heartbeat;
}

/** Work that is not done in time is left to the leases, which end by themselves. */
const atMost = (limitMs: number, work: () => Promise<void>): Promise<void> =>
  within(limitMs, work(), undefined);
