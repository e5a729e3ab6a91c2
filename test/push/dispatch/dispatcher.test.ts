import type { Logger } from 'pino';
import { pino } from 'pino';
import type { Piscina } from 'piscina';
import type { Test } from 'tap';
import t from 'tap';
import { ProviderTokens } from '../../../src/provider-credentials/provider-tokens.ts';
import type { Authorization } from '../../../src/providers/authorization.ts';
import { AuthorizationCache } from '../../../src/providers/authorization.ts';
import type { ProviderCredential } from '../../../src/providers/providers.ts';
import type { AuthorizationSource } from '../../../src/push/dispatch/authorizer.ts';
import { Authorizer } from '../../../src/push/dispatch/authorizer.ts';
import type { Claimed } from '../../../src/push/dispatch/claimed.ts';
import { partOf, releaseOf } from '../../../src/push/dispatch/claimed.ts';
import type { DispatcherOptions } from '../../../src/push/dispatch/dispatcher.ts';
import { Dispatcher } from '../../../src/push/dispatch/dispatcher.ts';
import { Pacer } from '../../../src/push/dispatch/pacer.ts';
import type { Batch, RunningTask, TaskEvents } from '../../../src/push/dispatch/worker-pool.ts';
import { WorkerPool } from '../../../src/push/dispatch/worker-pool.ts';
import { Ledger } from '../../../src/push/ledger/ledger.ts';
import type { QuotaAnswer, QuotaMessage } from '../../../src/push/protocol/permits.ts';
import { Presence } from '../../../src/push/protocol/presence.ts';
import type { MessageToTask, Task, WorkerSettings } from '../../../src/push/protocol/task.ts';
import type { ClaimedChunk, ClaimedScope } from '../../../src/push/sql/ledger/claim-chunks.ts';
import type { NotificationOrders } from '../../../src/push/sql/ledger/read-orders.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { countUndone } from '../../../src/tag-index/sql/count-undone.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { secrets } from '../../support/api.ts';
import { plain } from '../../support/expressions.ts';
import {
  claimChunksOf,
  claimRetriesOf,
  makeRunning,
  makeTenant,
} from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { apnsCredential } from '../../support/provider-credentials.ts';
import { credentialOf, originsOf } from '../../support/sending.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { temporaryStore } from '../../support/store.ts';

const LEASE_MS = 60_000;
const log = pino({ level: 'silent' });
const store = await temporaryStore(t);
const { sql } = store;
const ledger = new Ledger({
  journal: SILENT_JOURNAL,
  store,
  feed: NO_FEED,
  leaseMs: LEASE_MS,
  clock: systemClock,
  log,
  onRecorded: () => undefined,
});

const shared = {
  journal: SILENT_JOURNAL,
  ledger,
  leaseMs: LEASE_MS,
  clock: systemClock,
  pacer: new Pacer({ sql, clock: systemClock, log }),
  countUndone: (chunk: ClaimedChunk) => countUndone(sql, chunk, plain(chunk.terms.audience)),
  audiences: { of: ({ terms }: ClaimedScope) => plain(terms.audience) },
  payloads: { of: ({ terms }: ClaimedScope) => terms.payload },
  leftOut: { of: () => null },
  named: { of: () => null },
};

/** A worker that the test plays. */
const usable = (credential: ProviderCredential | null) =>
  credential === null ? null : { credential, fallBack: null, wasAcceptedLately: false };

/** Nothing limits them. */
const quotas = { join: () => null };

class PlayedPool {
  readonly tasks: Task[] = [];
  readonly messages: MessageToTask[] = [];
  play: (events: TaskEvents) => Promise<void> = () => Promise.resolve();

  run(task: Task, events: TaskEvents): RunningTask {
    this.tasks.push(task);
    return { say: (message) => this.messages.push(message), finished: this.play(events) };
  }
}

/** Asks for the right to send, as the claimer does. */
function authorized(options: DispatcherOptions) {
  const dispatcher = new Dispatcher(options);
  return {
    start: (claimed: Claimed, batch: Batch | null = null) => {
      const { appId, platformId } = partOf(claimed);
      return dispatcher.start(claimed, options.authorizer.authorize(appId, platformId), batch);
    },
    underWayFor: (ms: number) => dispatcher.underWayFor(ms),
    tell: (orders: readonly NotificationOrders[]) => dispatcher.tell(orders),
  };
}

function dispatcherOf(
  pool: Pick<WorkerPool, 'run'>,
  authorization: () => Authorization = () => ({ ok: true, value: 'bearer one' }),
  credential: () => ProviderCredential | null = () => apnsCredential(),
  logger: Logger = log,
) {
  const invalidated: string[] = [];
  const frozen: string[] = [];
  const authorizations: AuthorizationSource = {
    current: () => Promise.resolve(authorization()),
    invalidate: (key) => invalidated.push(key),
    freeze: (key) => Promise.resolve(void frozen.push(key)),
  };
  const authorizer = new Authorizer(() => Promise.resolve(usable(credential())), authorizations);
  const options = { ...shared, pool, authorizer, quotas };
  return {
    dispatcher: authorized({ ...options, log: logger }),
    invalidated,
    frozen,
  };
}

async function claimOne(slug: string, devices = 10): Promise<Claimed & { readonly kind: 'chunk' }> {
  const id = await makeRunning(sql, await makeTenant(sql, slug), devices);
  const leaseStartedMs = systemClock.monotonicMs();
  const [chunk] = await claimChunksOf(sql, id, LEASE_MS);
  if (chunk === undefined) throw new Error('nothing to claim');
  return { kind: 'chunk', chunk, leaseStartedMs, nodeId: null };
}

async function leaseOf({ chunk }: Claimed & { readonly kind: 'chunk' }) {
  const [row] = await sql<{ leased: boolean; waits: boolean }[]>`
    select lease_until is not null as leased, available_at > now() as waits from chunks
    where notification_id = ${chunk.notificationId}`;
  return { ...row };
}

async function isDoubted({ chunk }: Claimed & { readonly kind: 'chunk' }) {
  const [row] = await sql<{ isDoubted: boolean | null }[]>`
    select is_doubted as "isDoubted" from chunks where notification_id = ${chunk.notificationId}`;
  return row?.isDoubted;
}

t.test('what its worker failed at is given back', async (t) => {
  const pool = new PlayedPool();
  pool.play = () => Promise.reject(new Error('the thread has died'));
  const claimed = await claimOne('failed');
  await dispatcherOf(pool).dispatcher.start(claimed).finished;
  t.strictSame(await leaseOf(claimed), { leased: false, waits: true });
  t.equal(await isDoubted(claimed), true, 'it may have sent since its last report');
});

t.test('what fails before a worker has it is in no doubt', async (t) => {
  const pool = new PlayedPool();
  const claimed = await claimOne('unprepared');
  const fails = (): Authorization => {
    throw new Error('away');
  };
  await dispatcherOf(pool, fails).dispatcher.start(claimed).finished;
  t.equal(pool.tasks.length, 0);
  t.equal(await isDoubted(claimed), null);
});

t.test('at most once, retries of a lost worker are left to their leases', async (t) => {
  for (const isAtMostOnce of [true, false]) {
    const tenant = await makeTenant(sql, `lost-retries-${isAtMostOnce}`);
    const id = await makeRunning(sql, tenant, 10, { isAtMostOnce });
    const [chunk] = await claimChunksOf(sql, id, LEASE_MS);
    if (chunk === undefined) throw new Error('nothing to claim');
    const claim = { leaseStartedMs: systemClock.monotonicMs(), nodeId: null };
    const chunkClaim = { kind: 'chunk', chunk, ...claim } as const;
    const retry = { ordinal: 3, attempts: 1, reason: 'Later', dueInMs: 0, isUncertain: false };
    const release = releaseOf(chunkClaim, 0, Date.now());
    if (release.kind !== 'chunk') throw new Error(release.kind);
    const counts = { ...release.counts, total: 10, delivered: 9 };
    const blocks = -1n;
    await ledger.record({ ...release, blocks, counts, retries: [retry], releaseAfterMs: null });
    const [retries] = await claimRetriesOf(sql, id, LEASE_MS);
    if (retries === undefined) throw new Error('no retry to claim');
    const pool = new PlayedPool();
    pool.play = () => Promise.reject(new Error('the thread has died'));
    await dispatcherOf(pool).dispatcher.start({ kind: 'retries', retries, ...claim }).finished;
    const [row] = await sql`
      select lease_until is not null as leased from retries where notification_id = ${id}`;
    t.equal(row?.['leased'], isAtMostOnce);
  }
});

t.test('a retry that ends because its worker was lost may have arrived', async (t) => {
  const tenant = await makeTenant(sql, 'ended-with-worker');
  const id = await makeRunning(sql, tenant, 10, { expiresAtMs: Date.now() + 4_000 });
  const [chunk] = await claimChunksOf(sql, id, LEASE_MS);
  if (chunk === undefined) throw new Error('nothing to claim');
  const claim = { leaseStartedMs: systemClock.monotonicMs(), nodeId: null };
  const release = releaseOf({ kind: 'chunk', chunk, ...claim }, 0, Date.now());
  if (release.kind !== 'chunk') throw new Error(release.kind);
  const [retry, unsent] = [1, 0].map((attempts, at) => ({
    ordinal: 3 + at,
    attempts,
    reason: 'Later',
    dueInMs: 0,
    isUncertain: false,
  }));
  if (retry === undefined || unsent === undefined) throw new Error('no retries');
  const counts = { ...release.counts, total: 10, delivered: 8 };
  const retries = [retry, unsent];
  await ledger.record({ ...release, blocks: -1n, counts, retries, releaseAfterMs: null });
  const [claimed] = await claimRetriesOf(sql, id, LEASE_MS);
  if (claimed === undefined) throw new Error('no retry to claim');
  const pool = new PlayedPool();
  pool.play = () => Promise.reject(new Error('the thread has died'));
  await dispatcherOf(pool).dispatcher.start({ kind: 'retries', retries: claimed, ...claim })
    .finished;
  const [row] = await sql`
    select s.expired::integer, s.reached::integer, (
      select count(*)::integer from retries r where r.notification_id = s.notification_id
    ) as left from notification_scopes s where s.notification_id = ${id}`;
  t.match({ ...row }, { expired: 1, reached: 1, left: 1 });
});

t.test('a reason that nobody knows is logged once in the life of the process', async (t) => {
  const told: unknown[] = [];
  const stream = { write: (line: string) => told.push(JSON.parse(line)) };
  const pool = new PlayedPool();
  pool.play = (events) => {
    events.unfamiliar({ status: 418, reason: 'Teapot' });
    return Promise.resolve();
  };
  const { dispatcher } = dispatcherOf(pool, undefined, undefined, pino({ level: 'warn' }, stream));
  await dispatcher.start(await claimOne('teapot')).finished;
  await dispatcher.start(await claimOne('another-teapot')).finished;
  t.match(told, [{ platformId: 3, status: 418, reason: 'Teapot' }]);
});

t.test('without an authorization for now it waits, and no worker is bothered', async (t) => {
  const pool = new PlayedPool();
  const claimed = await claimOne('unauthorized');
  const later = () => ({ ok: false, reason: 'OAuth is away', retryable: true }) as const;
  await dispatcherOf(pool, later).dispatcher.start(claimed).finished;
  t.equal(pool.tasks.length, 0);
  t.strictSame(await leaseOf(claimed), { leased: false, waits: true });
});

t.test('a credential that is refused or missing is the fault of the task', async (t) => {
  const pool = new PlayedPool();
  const refused = () => ({ ok: false, reason: 'invalid_grant', retryable: false }) as const;
  await dispatcherOf(pool, refused).dispatcher.start(await claimOne('refused')).finished;
  t.match(pool.tasks[0], { fault: 'invalid_grant', authorized: null });
  await dispatcherOf(pool, undefined, () => null).dispatcher.start(await claimOne('missing'))
    .finished;
  t.match(pool.tasks[1], { fault: 'MissingCredential', authorized: null });
});

t.test('an expired authorization is replaced; one that has been already is told', async (t) => {
  const pool = new PlayedPool();
  let value = 'bearer one';
  const asked = new Promise<TaskEvents>((resolve) => {
    pool.play = (events) => {
      resolve(events);
      return until('two answers', () => (pool.messages.length === 2 ? true : null)).then(
        () => undefined,
      );
    };
  });
  const { dispatcher, invalidated } = dispatcherOf(pool, () => {
    if (invalidated.length > 0) value = 'bearer two';
    return { ok: true, value };
  });
  const { finished } = dispatcher.start(await claimOne('expired-authorization'));
  const events = await asked;
  events.authorizationExpired('bearer one');
  await until('the first answer', () => (pool.messages.length === 1 ? true : null));
  events.authorizationExpired('bearer one');
  await finished;
  t.strictSame(pool.messages, [
    { kind: 'authorize', authorization: 'bearer two' },
    { kind: 'authorize', authorization: 'bearer two' },
  ]);
  t.equal(invalidated.length, 1);
});

t.test('what is ordered of a send is told to its worker, each once', async (t) => {
  const pool = new PlayedPool();
  let end: () => void = () => undefined;
  pool.play = () =>
    new Promise((resolve) => {
      end = resolve;
    });
  const { dispatcher } = dispatcherOf(pool);
  const claimed = await claimOne('ordered');
  const { notificationId, expiresAtMs } = claimed.chunk;
  const tell = (state: NotificationOrders['state'], endMs = expiresAtMs) =>
    dispatcher.tell([{ notificationId, state, expiresAtMs: endMs, isPaced: false }]);
  const { finished } = dispatcher.start(claimed);
  t.strictSame(dispatcher.underWayFor(0), [notificationId]);
  t.strictSame(dispatcher.underWayFor(60_000), [], 'it has just begun');
  await until('a worker has it', () => (pool.tasks.length === 1 ? true : null));
  tell('RUNNING');
  for (const _ of [1, 2]) tell('PAUSED');
  for (const _ of [1, 2]) tell('PAUSED', 1_700_000_000_000);
  tell('CANCELLED', 1_700_000_000_000);
  dispatcher.tell([
    { notificationId: 'of another', state: 'CANCELLED', expiresAtMs: null, isPaced: false },
  ]);
  t.strictSame(pool.messages, [
    { kind: 'state', state: 'PAUSED' },
    { kind: 'give-back', withinMs: 0, answersWithinMs: null },
    { kind: 'state', state: 'CANCELLED' },
  ]);
  end();
  await finished;
  t.strictSame(dispatcher.underWayFor(0), []);
});

t.test('what is held to a rate now, or to none any more, is claimed again', async (t) => {
  const pool = new PlayedPool();
  let end: () => void = () => undefined;
  pool.play = () =>
    new Promise((resolve) => {
      end = resolve;
    });
  const { dispatcher } = dispatcherOf(pool);
  const claimed = await claimOne('paced');
  const { notificationId, expiresAtMs } = claimed.chunk;
  const tell = (isPaced: boolean) =>
    dispatcher.tell([{ notificationId, state: 'RUNNING', expiresAtMs, isPaced }]);
  const { finished } = dispatcher.start(claimed);
  await until('a worker has it', () => (pool.tasks.length === 1 ? true : null));
  tell(false);
  t.strictSame(pool.messages, []);
  for (const _ of [1, 2]) tell(true);
  t.strictSame(pool.messages, [{ kind: 'give-back', withinMs: 0, answersWithinMs: null }]);
  end();
  await finished;
});

t.test('what is ordered before a worker has it is told with the task', async (t) => {
  const pool = new PlayedPool();
  const { dispatcher } = dispatcherOf(pool);
  const claimed = await claimOne('ordered-early');
  const { notificationId, expiresAtMs } = claimed.chunk;
  const { finished } = dispatcher.start(claimed);
  dispatcher.tell([{ notificationId, state: 'CANCELLED', expiresAtMs, isPaced: false }]);
  t.equal(pool.tasks.length, 0);
  await finished;
  t.strictSame(pool.messages, [{ kind: 'state', state: 'CANCELLED' }]);
});

t.test('too many tokens of a key: no node makes another for a while', async (t) => {
  const pool = new PlayedPool();
  const asked = new Promise<TaskEvents>((resolve) => {
    pool.play = (events) => Promise.resolve(resolve(events));
  });
  const { dispatcher, frozen } = dispatcherOf(pool);
  const claimed = await claimOne('too-many-tokens');
  const { finished } = dispatcher.start(claimed);
  (await asked).tooManyTokens();
  await finished;
  t.same(frozen, [`${claimed.chunk.appId}.${claimed.chunk.platformId}`]);
});

/** One real thread and its simulator. */
async function workersOf(t: Test) {
  const simulator = await freshSimulator();
  const settings: WorkerSettings = {
    presence: new Presence(systemClock).memory,
    broadcast: 'dispatcher.test',
    limits: { connectionsMax: 8 },
    address: store.address,
    redis: null,
    origins: originsOf(simulator),
    transport: 'http2',
    logLevel: 'silent',
  };
  const pool = new WorkerPool(1, settings, () => undefined);
  t.teardown(() => pool.destroy());
  const authorizer = new Authorizer(
    (_appId, platformId) => Promise.resolve(usable(credentialOf(simulator, platformId))),
    new AuthorizationCache(originsOf(simulator), new ProviderTokens(sql, secrets)),
  );
  return { simulator, pool, authorizer };
}

t.test('what a task has not used of its quota goes back, before it counts as ended', async (t) => {
  const { pool, authorizer } = await workersOf(t);
  const heard: string[] = [];
  const metered = {
    join: (_credential: ProviderCredential, answer: (answer: QuotaAnswer) => void) => ({
      hear(message: QuotaMessage) {
        heard.push(message.kind);
        if (message.kind === 'wanted') answer({ kind: 'granted', permits: 1_000, forMs: 60_000 });
      },
      leave: () => void heard.push('left'),
    }),
  };
  const dispatcher = authorized({ ...shared, pool, authorizer, log, quotas: metered });
  for (let n = 0; n < 10; n += 1) {
    await dispatcher.start(await claimOne(`metered-${n}`)).finished;
    t.strictSame(heard.splice(0), ['wanted', 'unused', 'left']);
  }
});

t.test('a thread that dies is replaced, and its chunk is sent by the next', async (t) => {
  const { simulator, pool, authorizer } = await workersOf(t);
  await behave(simulator, { latencyMs: 30_000 });
  const dispatcher = authorized({ ...shared, pool, authorizer, quotas, log });
  const claimed = await claimOne('dying', 300);
  const { finished } = dispatcher.start(claimed);
  await until('it has connected', async () => {
    const state = await (await fetch(`${simulator.controlUrl}/state`)).json();
    return (state as { apns: { connectionsOpened: number } }).apns.connectionsOpened > 0
      ? true
      : null;
  });
  const { threads } = Reflect.get(pool, 'pool') as Piscina;
  await threads[0]?.terminate();
  await finished;
  t.match(await leaseOf(claimed), { leased: false });

  await behave(simulator, {});
  await sql`update chunks set available_at = now() where notification_id = ${claimed.chunk.notificationId}`;
  const [again] = await claimChunksOf(sql, claimed.chunk.notificationId, LEASE_MS);
  if (again === undefined) throw new Error('nothing to claim');
  const leaseStartedMs = systemClock.monotonicMs();
  await dispatcher.start({ kind: 'chunk', chunk: again, leaseStartedMs, nodeId: null }).finished;
  const rows = await readStatus(sql, again.clientId, again.notificationId);
  t.match(rows, [{ state: 'FINISHED', total: 300, delivered: 300 }]);
});

t.test('a batch goes to a worker as one, and what fails in it fails alone', async (t) => {
  const { pool, authorizer } = await workersOf(t);
  const dispatcher = authorized({ ...shared, pool, authorizer, quotas, log });
  const tenant = await makeTenant(sql, 'a-batch');
  const ids: string[] = [];
  for (let n = 0; n < 20; n += 1) ids.push(await makeRunning(sql, tenant, 1));
  const leaseStartedMs = systemClock.monotonicMs();
  const claimed: Claimed[] = [];
  for (const id of ids) {
    const [chunk] = await claimChunksOf(sql, id, LEASE_MS);
    if (chunk === undefined) throw new Error('nothing to claim');
    claimed.push({ kind: 'chunk', chunk, leaseStartedMs, nodeId: null });
  }
  const [bad] = claimed.splice(7, 1);
  if (bad?.kind !== 'chunk') throw new Error('no chunk');
  // No database can be asked for these ordinals.
  const broken = { ...bad, chunk: { ...bad.chunk, groupNumber: 300_000, ordinalEnd: 3e9 } };
  const batch = {};
  await Promise.all([broken, ...claimed].map((part) => dispatcher.start(part, batch).finished));
  // The worker says that it is done after its last report.
  const tasks = Reflect.get(pool, 'pool') as Piscina;
  await until('the worker is done', () => Promise.resolve(tasks.completed > 0 ? true : null));
  t.equal(tasks.completed, 1);
  const rows = await sql<{ id: string; state: string }[]>`
    select id, state from notifications where id = any(${ids}::uuid[])`;
  t.strictSame(
    rows.filter(({ state }) => state !== 'FINISHED').map(({ id }) => id),
    [bad.chunk.notificationId],
  );
});
