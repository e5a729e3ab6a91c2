import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import type { Progress } from '../../../src/domain/progress.ts';
import { PARKED } from '../../../src/domain/progress.ts';
import { Authorizer } from '../../../src/push/dispatch/authorizer.ts';
import { Claimer } from '../../../src/push/dispatch/claimer.ts';
import { Dispatcher } from '../../../src/push/dispatch/dispatcher.ts';
import { Pacer } from '../../../src/push/dispatch/pacer.ts';
import { CLAIMS_WITHOUT_PROGRESS_MAX } from '../../../src/push/dispatch/parking.ts';
import type {
  RunningTask,
  TaskEvents,
  WorkerPool,
} from '../../../src/push/dispatch/worker-pool.ts';
import { Ledger } from '../../../src/push/ledger/ledger.ts';
import { Presence } from '../../../src/push/protocol/presence.ts';
import type { MessageToTask, Task } from '../../../src/push/protocol/task.ts';
import { listParked, releaseParked } from '../../../src/push/sql/ledger/parked-parts.ts';
import type { ScopeStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { countUndone } from '../../../src/tag-index/sql/count-undone.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { plain } from '../../support/expressions.ts';
import type { Tenant } from '../../support/notifications.ts';
import { claimChunksOf, makeRunning, makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { apnsCredential } from '../../support/provider-credentials.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { withStores } from '../../support/store.ts';

const LEASE_MS = 60_000;
const AT_ONCE = { withinMs: 0, answersWithinMs: 0 };
const ALL_BLOCKS = -1n;

/** Plays a worker with a task: resolves with its reports, or rejects when it dies. */
type Play = (task: Task) => Promise<readonly Partial<Progress>[]>;

/** The main thread's part of a node, on the store, with a worker that the test plays. */
class PlayedNode {
  readonly tasks: Task[] = [];
  /** Log lines of errors. */
  readonly told: Record<string, unknown>[] = [];
  /** The most tasks at a time. */
  together = 0;
  private readonly claimer: Claimer;
  private running = 0;

  constructor(store: Store, play: Play, countingFails: () => void = () => undefined) {
    const log = pino({ level: 'error' }, { write: (line) => this.told.push(JSON.parse(line)) });
    const clock = systemClock;
    const ledger = new Ledger({
      journal: SILENT_JOURNAL,
      store,
      feed: NO_FEED,
      leaseMs: LEASE_MS,
      clock,
      log,
      onRecorded: () => undefined,
    });
    const authorizer = new Authorizer(
      () =>
        Promise.resolve({ credential: apnsCredential(), fallBack: null, wasAcceptedLately: false }),
      {
        current: () => Promise.resolve({ ok: true, value: 'bearer one' }),
        invalidate: () => undefined,
        freeze: () => Promise.resolve(),
      },
    );
    const pool: Pick<WorkerPool, 'run'> = {
      run: (task, events) => this.run(task, events, play),
    };
    const dispatcher = new Dispatcher({
      journal: SILENT_JOURNAL,
      ledger,
      pool,
      authorizer,
      quotas: { join: () => null },
      pacer: new Pacer({ sql: store.sql, clock, log }),
      leaseMs: LEASE_MS,
      countUndone: (chunk) => {
        countingFails();
        return countUndone(store.sql, chunk, plain(chunk.terms.audience));
      },
      audiences: { of: ({ terms }) => plain(terms.audience) },
      payloads: { of: ({ terms }) => terms.payload },
      leftOut: { of: () => null },
      named: { of: () => null },
      clock,
      log,
    });
    this.claimer = new Claimer({
      store,
      slots: 8,
      reservedSlots: 0,
      leaseMs: LEASE_MS,
      presence: new Presence(clock),
      clock,
      log,
      authorize: (appId, platformId) => authorizer.authorize(appId, platformId),
      onRoom: () => undefined,
      start: (claimed, authorization) => dispatcher.start(claimed, authorization),
    });
    this.claimer.start();
  }

  stop(): Promise<void> {
    return this.claimer.drain(AT_ONCE);
  }

  private run(task: Task, events: TaskEvents, play: Play): RunningTask {
    this.tasks.push(task);
    let hear: (message: MessageToTask) => void = () => undefined;
    const work = async (): Promise<void> => {
      this.running += 1;
      this.together = Math.max(this.together, this.running);
      try {
        for (const report of await play(task)) {
          const heard = new Promise<MessageToTask>((resolve) => {
            hear = resolve;
          });
          events.reported({ ...emptyReport(task), ...report } as Progress);
          await heard;
        }
      } finally {
        this.running -= 1;
      }
    };
    return { say: (message) => hear(message), finished: work() };
  }
}

const NOTHING = { total: 0, delivered: 0, failed: 0, skipped: 0, expired: 0, cancelled: 0 };

function emptyReport(task: Task): Progress {
  const { appId, platformId, message } = task;
  const shared = {
    notificationId: message.notificationId,
    appId,
    platformId,
    observations: [],
    fault: null,
    sends: 0,
    sentFromMs: null,
    sentToMs: null,
  };
  if (task.kind === 'retries') return { ...shared, kind: 'retries', settlements: [] };
  return {
    ...shared,
    kind: 'chunk',
    groupNumber: task.groupNumber,
    epoch: task.epoch,
    blocks: 0n,
    counts: NOTHING,
    reasons: [],
    retries: [],
    started: null,
    openDevices: null,
    releaseAfterMs: null,
  };
}

const delivered = (devices: number): Partial<Progress> => ({
  kind: 'chunk',
  blocks: ALL_BLOCKS,
  counts: { ...NOTHING, total: devices, delivered: devices },
});

/**
 * The one row, once the notification has ended. What waits to be claimed again need not wait for
 * it. A held retry is left alone: only who takes its lease or its epoch from it may write it
 * (record-retries.ts), or its report finds nothing.
 */
const ended = (store: Store, { clientId }: Tenant, id: string): Promise<ScopeStatus> =>
  until(`${id} has ended`, async () => {
    await store.sql`
      update chunks set available_at = now() where notification_id = ${id} and parked_at is null`;
    await store.sql`
      update retries set due_at = now()
      where notification_id = ${id} and parked_at is null and lease_until is null`;
    const [row] = (await readStatus(store.sql, clientId, id)) ?? [];
    return row?.state === 'FINISHED' || row?.state === 'FAILED' ? row : null;
  });

const PARKED_ALL = {
  state: 'FINISHED',
  total: 10,
  failed: 10,
  parked: 10,
  reasons: { [PARKED]: 10 },
};

await withStores(t, async (t, store) => {
  for (const [what, play, failure] of [
    [
      'kills its worker',
      () => Promise.reject(new Error('heap out of memory')),
      'heap out of memory',
    ],
    ['throws', (task: Task) => Promise.reject(new RangeError(`no ${task.kind}`)), 'no chunk'],
    [
      'has a report that the database refuses',
      () => Promise.resolve([{ ...delivered(10), reasons: [['a\0b', 1]] as const }]),
      'invalid byte sequence',
    ],
    [
      'has a time that the database refuses',
      () => Promise.resolve([{ ...delivered(10), sentFromMs: 1e300 }]),
      'out of range',
    ],
  ] as const) {
    await t.test(`a part that ${what} is parked, and released by an operator`, (t) =>
      parkedAndReleased(t, store, { play, failure }),
    );
  }
  await t.test('a part whose devices nobody can count is parked all the same', (t) =>
    uncountable(t, store),
  );
  await t.test('retries are parked likewise', (t) => retries(t, store));
  await t.test('whoever had it was lost, again and again: parked', (t) => lost(t, store));
  await t.test('claims that end in order, or with progress, are forgotten', (t) =>
    forgiven(t, store),
  );
  await t.test('suspects are claimed one at a time, and all others beside them', (t) =>
    oneAtATime(t, store),
  );
});

async function parkedAndReleased(
  t: Test,
  store: Store,
  { play, failure }: { readonly play: Play; readonly failure: string },
): Promise<void> {
  const { sql } = store;
  const tenant = await makeTenant(sql, `parked-${failure.replaceAll(' ', '-')}`);
  const id = await makeRunning(sql, tenant, 10);
  const node = new PlayedNode(store, play);
  t.match(await ended(store, tenant, id), PARKED_ALL);
  t.equal(node.tasks.length, CLAIMS_WITHOUT_PROGRESS_MAX);
  await node.stop();
  t.match(node.told.at(-1), {
    notificationId: id,
    part: 'group 0',
    devices: 10,
    failure: new RegExp(failure),
    msg: /parked.*tagcast parked release/,
  });
  const listed = (await listParked(sql)).find(({ notificationId }) => notificationId === id);
  t.match(listed, { devices: 10, failure: new RegExp(failure), appId: tenant.appId });

  t.equal(await releaseParked(sql, id), 10);
  t.equal(await releaseParked(sql, id), null);
  const [released] = (await readStatus(sql, tenant.clientId, id)) ?? [];
  t.match(released, { state: 'RUNNING', total: 0, failed: 0, parked: 0, reasons: null });
  const fixed = new PlayedNode(store, () => Promise.resolve([delivered(10)]));
  t.match(await ended(store, tenant, id), {
    state: 'FINISHED',
    total: 10,
    delivered: 10,
    failed: 0,
  });
  await fixed.stop();
}

async function uncountable(t: Test, store: Store): Promise<void> {
  const tenant = await makeTenant(store.sql, 'parked-uncountable');
  const id = await makeRunning(store.sql, tenant, 10);
  let counts = 0;
  const node = new PlayedNode(
    store,
    () => Promise.reject(new Error('always')),
    () => {
      counts += 1;
      throw new RangeError('too many values');
    },
  );
  t.match(await ended(store, tenant, id), { total: 0, failed: 0 });
  await node.stop();
  t.equal(counts, 3, 'a database that was away for a moment had time to come back');
  t.ok(node.told.some(({ msg }) => msg === 'a parked part cannot be counted'));
}

async function retries(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'parked-retries');
  const id = await makeRunning(sql, tenant, 10);
  const retry = { ordinal: 3, attempts: 1, reason: 'Later', dueInMs: 0, isUncertain: false };
  const counts = { ...NOTHING, total: 10, delivered: 9 };
  const play: Play = (task) =>
    task.kind === 'chunk'
      ? Promise.resolve([{ ...delivered(10), counts, retries: [retry] }])
      : Promise.reject(new Error('always'));
  const node = new PlayedNode(store, play);
  const parked = { total: 10, delivered: 9, failed: 1, parked: 1, waitingFor: null };
  t.match(await ended(store, tenant, id), parked);
  t.equal(node.tasks.length, 1 + CLAIMS_WITHOUT_PROGRESS_MAX);
  await node.stop();
  t.equal(await releaseParked(sql, id), 1);
  const [row] = (await readStatus(sql, tenant.clientId, id)) ?? [];
  t.match(row, { state: 'RUNNING', total: 10, delivered: 9, failed: 0, parked: 0 });
  await sql`delete from notifications where id = ${id}`;
}

async function lost(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'parked-lost');
  const id = await makeRunning(sql, tenant, 10);
  // A claim whose lease ends without a word.
  for (let claims = 1; claims <= CLAIMS_WITHOUT_PROGRESS_MAX; claims += 1) {
    const among = claims > 2 ? 'suspects' : 'unsuspected';
    t.match(await claimChunksOf(sql, id, 0, 1, null, among), [{ claimsWithoutProgress: claims }]);
  }
  const node = new PlayedNode(store, () => Promise.resolve([]));
  t.match(await ended(store, tenant, id), PARKED_ALL);
  t.equal(node.tasks.length, 0);
  await node.stop();
  t.match(node.told.at(-1), { failure: 'the worker or node that had it was lost' });
}

async function forgiven(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'forgiven');
  const id = await makeRunning(sql, tenant, 10);
  let tasks = 0;
  let done = 0n;
  const node = new PlayedNode(store, (task) => {
    tasks += 1;
    if (tasks > 18) return Promise.resolve([{ ...delivered(10), blocks: ~done }]);
    if (tasks % 3 !== 0) return Promise.reject(new Error(`${task.kind} failed`));
    if (tasks % 2 === 0) return Promise.resolve([{ kind: 'chunk', releaseAfterMs: 0 }]);
    const blocks = 1n << BigInt(tasks);
    done |= blocks;
    const refused = { blocks: 1n, reasons: [['a\0b', 1]] as const };
    return Promise.resolve([
      { kind: 'chunk', blocks },
      { kind: 'chunk', ...refused },
    ]);
  });
  t.match(await ended(store, tenant, id), { state: 'FINISHED', total: 10, delivered: 10 });
  await node.stop();
}

async function oneAtATime(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'one-at-a-time');
  const id = await makeRunning(sql, tenant, 4, { step: 8_192 });
  await sql`update chunks set claims_without_progress = 2 where notification_id = ${id}`;
  const slow: Play = async () => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return [delivered(1)];
  };
  const node = new PlayedNode(store, slow);
  t.match(await ended(store, tenant, id), { state: 'FINISHED', delivered: 4 });
  t.equal(node.together, 1);
  const other = await makeRunning(sql, await makeTenant(sql, 'beside'), 4, { step: 8_192 });
  await until('the others', async () => {
    const [row] = await sql`select state from notifications where id = ${other}`;
    return row?.['state'] === 'FINISHED' ? true : null;
  });
  t.ok(node.together > 1);
  await node.stop();
}
