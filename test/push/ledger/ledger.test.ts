import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import type { Sql } from '../../../src/database/sql.ts';
import type { Store } from '../../../src/database/store.ts';
import { CONDEMNED_MIN } from '../../../src/domain/deletion-gate.ts';
import { GROUP_DEVICES } from '../../../src/domain/device.ts';
import type { Counts } from '../../../src/domain/notification.ts';
import type { Progress, RetryProgress } from '../../../src/domain/progress.ts';
import { Ledger } from '../../../src/push/ledger/ledger.ts';
import type { ClaimedChunk } from '../../../src/push/sql/ledger/claim-chunks.ts';
import type { ClaimedRetries } from '../../../src/push/sql/ledger/claim-retries.ts';
import { releaseAllLeases } from '../../../src/push/sql/ledger/release-all-leases.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { chunkReport } from '../../support/chunk-report.ts';
import {
  claimChunksOf,
  claimRetriesOf,
  makeRunning,
  makeTenant,
} from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { withPostgresStore, withStores } from '../../support/store.ts';
import { untilLockWaits } from '../../support/until-lock-waits.ts';

/** So many chunks: the ledger takes a worker's report of one, and does not read the devices. */
const oneInEachGroup = { step: GROUP_DEVICES };
const LEASE_MS = 60_000;
const NOTHING: Counts = { total: 0, delivered: 0, failed: 0, skipped: 0, expired: 0, cancelled: 0 };

/** `told`: its reports of what it has recorded. */
const ledgerOf = (store: Store, told: Progress[] = []): Ledger =>
  new Ledger({
    journal: SILENT_JOURNAL,
    store,
    feed: NO_FEED,
    leaseMs: LEASE_MS,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    onRecorded: (progress) => told.push(progress),
  });

const claim = (sql: Sql, notificationId: string, count = 1, leaseMs = LEASE_MS) =>
  claimChunksOf(sql, notificationId, leaseMs, count);

/** The only chunk of a notification of one group. */
async function claimOne(
  sql: Sql,
  notificationId: string,
  leaseMs = LEASE_MS,
): Promise<ClaimedChunk> {
  const [chunk] = await claim(sql, notificationId, 1, leaseMs);
  if (chunk === undefined) throw new Error('nothing to claim');
  return chunk;
}

const delivered = (count: number): Counts => ({ ...NOTHING, total: count, delivered: count });

async function rowOf(sql: Sql, clientId: number, id: string) {
  const [row] = (await readStatus(sql, clientId, id)) ?? [];
  if (row === undefined) throw new Error('no status');
  return row;
}

await withStores(t, async (t, store) => {
  await t.test('progress', (t) => progress(t, store));
  await t.test('retries', (t) => retries(t, store));
  await t.test('a notification is finished exactly once, whoever brings it to its end', (t) =>
    finishing(t, store),
  );
  await t.test('faults', (t) => faults(t, store));
  await t.test('a chunk that is given back can be claimed at once, or after its wait', (t) =>
    givingBack(t, store),
  );
  await t.test('cancelled: what is left is counted, then it is over; paused: it can end too', (t) =>
    endings(t, store),
  );
  await t.test('erase reasons of devices are written with their outcomes, or not at all', (t) =>
    eraseReasons(t, store),
  );
  await t.test('when nearly all are refused, further refusals condemn nobody', (t) =>
    refusals(t, store),
  );
  await t.test('unknown outcomes that are sent again are counted, once', (t) =>
    uncertain(t, store),
  );
  await t.test('at most once: what was started and not given back is told to the next', (t) =>
    started(t, store),
  );
  await t.test('what was learned of a living device is noted', (t) => observations(t, store));
  await t.test('its lag is the age of what the database has not taken', (t) => lag(t, store));
});

async function lag(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const tenant = await makeTenant(sql, 'lags');
  const id = await makeRunning(sql, tenant, 300);
  const chunk = await claimOne(sql, id);
  t.match(ledger.reading, { reportsWaiting: 0, lagSeconds: 0, failedAttempts: 0 });
  const recording = await sql.begin(async (tx) => {
    await tx`select from notifications where id = ${id} for update`;
    const recording = ledger.record(chunkReport(chunk, { blocks: 1n, counts: delivered(128) }));
    await sleep(300);
    t.equal(ledger.reading.reportsWaiting, 1);
    t.ok(ledger.reading.lagSeconds >= 0.29, `${ledger.reading.lagSeconds} s late`);
    return { recording };
  });
  t.match(await recording.recording, { kind: 'recorded' });
  const { recordSeconds, reportsWaiting, lagSeconds } = ledger.reading;
  t.same({ reportsWaiting, lagSeconds }, { reportsWaiting: 0, lagSeconds: 0 });
  t.ok(recordSeconds.sum >= 0.25, `recorded in ${recordSeconds.sum} s`);
  await ledger.drain();
}

t.test('attempts that the database does not take are counted', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const ledger = ledgerOf(store);
    const tenant = await makeTenant(sql, 'away');
    const id = await makeRunning(sql, tenant, 300);
    const chunk = await claimOne(sql, id);
    const { recording } = await sql.begin(async (tx) => {
      await tx`select from notifications where id = ${id} for update`;
      const recording = ledger.record(chunkReport(chunk, { blocks: 1n, counts: delivered(128) }));
      await untilLockWaits('recording waits', sql);
      await tx`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      await until('it has failed', () => (ledger.reading.failedAttempts === 1 ? true : null));
      t.equal(ledger.reading.reportsWaiting, 1, 'the report is not lost');
      return { recording };
    });
    t.match(await recording, { kind: 'recorded' });
    await ledger.drain();
  }),
);

async function progress(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const told: Progress[] = [];
  const ledger = ledgerOf(store, told);

  await t.test(
    'adds up, block by block, and the last block finishes the notification',
    async (t) => {
      const tenant = await makeTenant(sql, 'adds-up');
      const id = await makeRunning(sql, tenant, 300);
      const chunk = await claimOne(sql, id);
      const first = await ledger.record(
        chunkReport(chunk, {
          blocks: 0b011n,
          counts: delivered(256),
          sends: 256,
          sentFromMs: 1_000,
          sentToMs: 2_000,
        }),
      );
      t.match(first, { kind: 'recorded', state: 'RUNNING', fault: null });
      t.match(await rowOf(sql, tenant.clientId, id), {
        state: 'RUNNING',
        total: 256,
        delivered: 256,
      });
      const counts = { ...NOTHING, total: 44, delivered: 40, failed: 4 };
      const last = await ledger.record(
        chunkReport(chunk, {
          blocks: BigInt.asIntN(64, ~0b011n),
          counts,
          reasons: [
            ['BadDeviceToken', 3],
            ['Unregistered', 1],
          ],
          sentFromMs: 3_000,
          sentToMs: 4_000,
        }),
      );
      t.match(last, { kind: 'recorded', state: 'FINISHED' });
      t.match(await rowOf(sql, tenant.clientId, id), {
        state: 'FINISHED',
        total: 300,
        delivered: 296,
        failed: 4,
        reasons: { BadDeviceToken: 3, Unregistered: 1 },
      });
      const [times] = await sql`
        select extract(epoch from first_send_at)::integer as first, extract(epoch from last_send_at)::integer as last,
          finished_at is not null as finished, (select count(*) from chunks where notification_id = id) as chunks
        from notifications where id = ${id}`;
      t.strictSame({ ...times }, { first: 1, last: 4, finished: true, chunks: 0 });
    },
  );

  await t.test('of an older epoch is refused, whole', async (t) => {
    const tenant = await makeTenant(sql, 'older-epoch');
    const id = await makeRunning(sql, tenant, 200);
    const frozen = await claimOne(sql, id, 0);
    const successor = await claimOne(sql, id);
    t.equal(successor.epoch, frozen.epoch + 1);
    const late = chunkReport(frozen, {
      blocks: 1n,
      counts: { ...NOTHING, total: 128, failed: 120 },
      reasons: [['Late', 120]],
      retries: [{ ordinal: 5, attempts: 1, reason: 'Late', dueInMs: 0, isUncertain: true }],
    });
    told.length = 0;
    t.strictSame(await ledger.record(late), { kind: 'lost' });
    t.strictSame(told, [], 'nobody is told that it is recorded');
    const row = await rowOf(sql, tenant.clientId, id);
    t.match(row, { total: 0, failed: 0, reasons: null });
    const [open] = await sql`
        select open_chunks, open_retries, (select count(*) from retries where notification_id = id) as retries
        from notifications where id = ${id}`;
    t.strictSame({ ...open }, { open_chunks: 1, open_retries: 0, retries: 0 });
  });

  await t.test('repeated after a commit of unknown end counts once', async (t) => {
    const tenant = await makeTenant(sql, 'repeated');
    const id = await makeRunning(sql, tenant, 300);
    const chunk = await claimOne(sql, id);
    const half = chunkReport(chunk, {
      blocks: 1n,
      counts: { ...NOTHING, total: 128, delivered: 127 },
      retries: [{ ordinal: 7, attempts: 1, reason: 'Timeout', dueInMs: 60_000, isUncertain: true }],
    });
    t.match(await ledger.record(half), { kind: 'recorded' });
    t.match(await ledger.record(half), { kind: 'recorded' }, 'still its own');
    t.match(await rowOf(sql, tenant.clientId, id), { total: 128, delivered: 127 });
    const last = chunkReport(chunk, { blocks: -2n, counts: delivered(172) });
    t.match(await ledger.record(last), { kind: 'recorded' });
    await ledger.record(last);
    t.match(await rowOf(sql, tenant.clientId, id), {
      state: 'RUNNING',
      total: 300,
      delivered: 299,
    });
    const [open] = await sql`select open_chunks, open_retries from notifications where id = ${id}`;
    t.strictSame({ ...open }, { open_chunks: 0, open_retries: 1 }, 'the retry keeps it running');
  });

  await t.test(
    'one report that the database cannot take does not fail its neighbours',
    async (t) => {
      const tenant = await makeTenant(sql, 'neighbours');
      const id = await makeRunning(sql, tenant, 3, oneInEachGroup);
      const [good, bad, fine] = await claim(sql, id, 3);
      if (good === undefined || bad === undefined || fine === undefined)
        throw new Error('three chunks');
      const reports: readonly Progress[] = [
        chunkReport(good, { blocks: -1n, counts: delivered(8_192) }),
        chunkReport(bad, { blocks: 1n, reasons: [['NUL \0', 1]], counts: delivered(1) }),
        chunkReport(fine, { blocks: -1n, counts: delivered(8_192) }),
      ];
      told.length = 0;
      const replies = await Promise.all(reports.map((progress) => ledger.record(progress)));
      t.strictSame(
        replies.map(({ kind }) => kind),
        ['recorded', 'refused', 'recorded'],
      );
      t.match(await rowOf(sql, tenant.clientId, id), { total: 16_384, delivered: 16_384 });
      t.strictSame(
        told.map((progress) => reports.indexOf(progress)).sort(),
        [0, 2],
        'what is recorded is told, once, and nothing else',
      );
    },
  );

  await t.test('of a notification that has been deleted meanwhile is refused', async (t) => {
    const tenant = await makeTenant(sql, 'deleted');
    const id = await makeRunning(sql, tenant, 200);
    const chunk = await claimOne(sql, id);
    await sql`delete from notifications where id = ${id}`;
    told.length = 0;
    const late = chunkReport(chunk, { blocks: -1n, counts: delivered(200) });
    t.strictSame(await ledger.record(late), { kind: 'lost' });
    t.strictSame(told, []);
  });
}

async function retries(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const tenant = await makeTenant(sql, 'retries');
  const id = await makeRunning(sql, tenant, 300);
  const chunk = await claimOne(sql, id);
  const ordinals = [3, 4, 5, 6];
  await ledger.record(
    chunkReport(chunk, {
      blocks: -1n,
      counts: { ...NOTHING, total: 300, delivered: 296 },
      retries: ordinals.map((ordinal) => ({
        ordinal,
        attempts: 1,
        reason: 'Timeout',
        dueInMs: 0,
        isUncertain: true,
      })),
    }),
  );
  const settle = (
    batch: ClaimedRetries,
    endings: readonly RetryProgress['settlements'][number]['ending'][],
  ): RetryProgress => ({
    kind: 'retries',
    notificationId: id,
    appId: batch.appId,
    platformId: batch.platformId,
    settlements: endings.map((ending, index) => ({
      ordinal: batch.ordinals[index] ?? 0,
      epoch: batch.epochs[index] ?? 0,
      ending,
      reason: ending === 'failed' ? 'Gone' : 'Again',
      attempts: 2,
      dueInMs: 0,
      isUncertain: ending === null,
      isReached: ending === null || ending === 'delivered',
    })),
    observations: [],
    fault: null,
    sends: 0,
    sentFromMs: null,
    sentToMs: null,
  });

  const [frozen] = await claimRetriesOf(sql, id, 0);
  const [batch] = await claimRetriesOf(sql, id, LEASE_MS);
  if (frozen === undefined || batch === undefined) throw new Error('nothing to claim');
  t.strictSame(batch.ordinals, ordinals);
  t.strictSame(batch.attempts, [1, 1, 1, 1]);
  t.equal((await claimRetriesOf(sql, id, LEASE_MS)).length, 0, 'they have a lease');

  await ledger.record(settle(frozen, ['delivered', 'delivered', 'delivered', 'delivered']));
  t.match(
    await rowOf(sql, tenant.clientId, id),
    { delivered: 296 },
    'the older epoch changes nothing',
  );

  const settled = settle(batch, ['delivered', 'failed', 'skipped', null]);
  await ledger.record(settled);
  await ledger.record(settled);
  const row = await rowOf(sql, tenant.clientId, id);
  t.match(row, { state: 'RUNNING', delivered: 297, failed: 1, skipped: 1, reasons: { Gone: 1 } });

  const [again] = await claimRetriesOf(sql, id, LEASE_MS);
  t.match(again, { ordinals: [6], attempts: [2] });
  if (again !== undefined) await ledger.record(settle(again, ['expired']));
  const last = await rowOf(sql, tenant.clientId, id);
  t.match(last, {
    state: 'FINISHED',
    total: 300,
    delivered: 297,
    failed: 1,
    skipped: 1,
    expired: 1,
  });
}

async function finishing(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'together');
  const groups = 12;
  const id = await makeRunning(sql, tenant, groups, oneInEachGroup);
  const nodes = [ledgerOf(store), ledgerOf(store), ledgerOf(store)];
  const chunks = await claim(sql, id, groups);
  t.equal(chunks.length, groups);
  const halves = [0x5555_5555_5555_5555n, -0x5555_5555_5555_5556n];
  await Promise.all(
    chunks.map(async (chunk, index) => {
      for (const blocks of halves) {
        const reply = await nodes[index % nodes.length]?.record(
          chunkReport(chunk, { blocks, counts: delivered(4_096) }),
        );
        t.equal(reply?.kind, 'recorded');
      }
    }),
  );
  const row = await rowOf(sql, tenant.clientId, id);
  t.match(row, { state: 'FINISHED', total: 8_192 * groups, delivered: 8_192 * groups });
  const [open] = await sql`select open_chunks from notifications where id = ${id}`;
  t.equal(open?.['open_chunks'], 0);
}

async function faults(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const fault = { fault: 'BadCertificate', reasons: [['BadCertificate', 10]] as const };

  await t.test('before anything was accepted fail the notification', async (t) => {
    const tenant = await makeTenant(sql, 'fault-first');
    const id = await makeRunning(sql, tenant, 10);
    const counts = { ...NOTHING, total: 10, failed: 10 };
    const chunk = await claimOne(sql, id);
    t.match(await ledger.record(chunkReport(chunk, { ...fault, blocks: -1n, counts })), {
      state: 'FAILED',
      fault: 'BadCertificate',
    });
    await ledger.record(chunkReport(chunk, { fault: 'TooLate' }));
    t.match(await rowOf(sql, tenant.clientId, id), { state: 'FAILED', fault: 'BadCertificate' });
  });

  await t.test('after something was accepted do not', async (t) => {
    const tenant = await makeTenant(sql, 'fault-later');
    const id = await makeRunning(sql, tenant, 10);
    const counts = { ...NOTHING, total: 10, delivered: 1, failed: 9 };
    await ledger.record(chunkReport(await claimOne(sql, id), { ...fault, blocks: -1n, counts }));
    t.match(await rowOf(sql, tenant.clientId, id), { state: 'FINISHED', delivered: 1 });
  });

  await t.test('of a send that has ended are not noted', async (t) => {
    const tenant = await makeTenant(sql, 'fault-after');
    const id = await makeRunning(sql, tenant, 10);
    const chunk = await claimOne(sql, id);
    await ledger.record(chunkReport(chunk, { blocks: -1n, counts: delivered(10) }));
    await ledger.record(chunkReport(chunk, { fault: 'TooLate' }));
    t.match(await rowOf(sql, tenant.clientId, id), { state: 'FINISHED', fault: null });
  });

  await t.test('found by two: the first one stays', async (t) => {
    const tenant = await makeTenant(sql, 'fault-twice');
    const id = await makeRunning(sql, tenant, 2, oneInEachGroup);
    const [first, second] = await claim(sql, id, 2);
    if (first === undefined || second === undefined) throw new Error('two chunks');
    await ledger.record(chunkReport(first, { fault: 'BadCertificate' }));
    t.match(await ledger.record(chunkReport(second, { fault: 'Another' })), {
      fault: 'BadCertificate',
    });
  });

  await t.test('are told to whoever reports on the scope', async (t) => {
    const tenant = await makeTenant(sql, 'fault-told');
    const id = await makeRunning(sql, tenant, 2, oneInEachGroup);
    const [finder, other] = await claim(sql, id, 2);
    if (finder === undefined || other === undefined) throw new Error('two chunks');
    const counts = { ...NOTHING, total: 128, failed: 128 };
    await ledger.record(chunkReport(finder, { ...fault, blocks: 1n, counts }));
    t.match(await ledger.record(chunkReport(other, {})), { fault: 'BadCertificate' });
  });
}

async function givingBack(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const tenant = await makeTenant(sql, 'given-back');
  const id = await makeRunning(sql, tenant, 300);
  const chunk = await claimOne(sql, id);
  t.equal((await claim(sql, id)).length, 0, 'it has a lease');
  await ledger.record(
    chunkReport(chunk, { blocks: 1n, counts: delivered(128), releaseAfterMs: 0 }),
  );
  const successor = await claimOne(sql, id);
  t.match(successor, { epoch: chunk.epoch + 1, doneBlocks: '1' }, 'what was recorded stays');
  await ledger.record(chunkReport(successor, { releaseAfterMs: 60_000 }));
  t.equal((await claim(sql, id)).length, 0, 'it waits');
}

async function endings(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  for (const [state, end] of [
    ['CANCELLED', 'CANCELLED'],
    ['PAUSED', 'FINISHED'],
  ] as const) {
    const tenant = await makeTenant(sql, state.toLowerCase());
    const id = await makeRunning(sql, tenant, 300);
    const chunk = await claimOne(sql, id);
    await sql`update notifications set state = ${state} where id = ${id}`;
    t.match(await ledger.record(chunkReport(chunk, { blocks: 1n, counts: delivered(128) })), {
      state,
    });
    const counts = { ...NOTHING, total: 172, cancelled: 172 };
    t.match(await ledger.record(chunkReport(chunk, { blocks: -2n, counts })), { state: end });
    const [row] =
      await sql`select finished_at is not null as final from notifications where id = ${id}`;
    t.equal(row?.['final'], true);
  }
}

async function refusals(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const tenant = await makeTenant(sql, 'refusals');
  const id = await makeRunning(sql, tenant, 2, oneInEachGroup);
  const [first, second] = await claim(sql, id, 2);
  if (first === undefined || second === undefined) throw new Error('two chunks');
  const refused = (ordinal: number) =>
    ({ ordinal, kind: 'refused', registeredBeforeMs: 2_000 }) as const;
  const condemned = async () =>
    (await sql`select 1 from condemned_devices where notification_id = ${id}`).length;

  const many = Array.from({ length: CONDEMNED_MIN }, (_, ordinal) => refused(ordinal));
  await ledger.record(chunkReport(first, { blocks: 1n, observations: many }));
  t.equal(await condemned(), CONDEMNED_MIN);
  const more = [GROUP_DEVICES, GROUP_DEVICES + 1].map(refused);
  await ledger.record(chunkReport(second, { blocks: 1n, observations: more }));
  t.equal(await condemned(), CONDEMNED_MIN);
  const [scope] = await sql`
    select refused from notification_scopes where notification_id = ${id} and platform_id = ${first.platformId}`;
  t.equal(Number(scope?.['refused']), CONDEMNED_MIN + more.length, 'they are counted');
}

async function eraseReasons(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const tenant = await makeTenant(sql, 'erase-reasons');
  const id = await makeRunning(sql, tenant, 300);
  const frozen = await claimOne(sql, id, 0);
  const chunk = await claimOne(sql, id);
  const gone = { kind: 'gone', registeredBeforeMs: 1_000 } as const;
  const condemned = async () =>
    (
      await sql`
        select ordinal, is_refusal, extract(epoch from registered_before)::integer as before
        from condemned_devices where notification_id = ${id} order by ordinal`
    ).map((row) => ({ ...row }));

  const late = chunkReport(frozen, { blocks: 1n, observations: [{ ordinal: 5, ...gone }] });
  t.strictSame(await ledger.record(late), { kind: 'lost' });
  t.strictSame(await condemned(), [], 'of an older epoch they count for nothing');

  const told = chunkReport(chunk, {
    blocks: 1n,
    counts: { ...NOTHING, total: 128, delivered: 125, failed: 2 },
    retries: [{ ordinal: 7, attempts: 1, reason: 'Later', dueInMs: 0, isUncertain: false }],
    observations: [
      { ordinal: 1, ...gone },
      { ordinal: 2, kind: 'refused', registeredBeforeMs: 2_000 },
    ],
  });
  await ledger.record(told);
  await ledger.record(told);
  // The process may die here: the table has them, in the same commit as the counts.
  t.strictSame(await condemned(), [
    { ordinal: 1, is_refusal: false, before: 1 },
    { ordinal: 2, is_refusal: true, before: 2 },
  ]);
  const [batch] = await claimRetriesOf(sql, id, LEASE_MS);
  if (batch === undefined) throw new Error('no retry');
  const settled: RetryProgress = {
    ...chunkReport(chunk, {}),
    kind: 'retries',
    settlements: [
      {
        ordinal: 7,
        epoch: batch.epochs[0] ?? 0,
        ending: 'failed',
        reason: 'Unregistered',
        attempts: 2,
        dueInMs: 0,
        isUncertain: false,
        isReached: false,
      },
    ],
    observations: [{ ordinal: 7, ...gone }],
  };
  await ledger.record(settled);
  await ledger.record(settled);
  t.strictSame(
    (await condemned()).map((row) => row['ordinal']),
    [1, 2, 7],
  );
  const [scope] = await sql`
    select gone, refused, deletions from notification_scopes where notification_id = ${id}`;
  t.strictSame({ ...scope }, { gone: 2, refused: 1, deletions: 'pending' });
}

async function uncertain(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const tenant = await makeTenant(sql, 'uncertain');
  const id = await makeRunning(sql, tenant, 300);
  const chunk = await claimOne(sql, id);
  const retry = { attempts: 1, reason: 'Timeout', dueInMs: 0 };
  const first = chunkReport(chunk, {
    blocks: 1n,
    counts: { ...NOTHING, total: 128, delivered: 126 },
    retries: [
      { ...retry, ordinal: 3, isUncertain: true },
      { ...retry, ordinal: 4, isUncertain: false },
    ],
  });
  await ledger.record(first);
  await ledger.record(first);
  t.match(await rowOf(sql, tenant.clientId, id), { uncertain: 1 });
  const [batch] = await claimRetriesOf(sql, id, LEASE_MS);
  if (batch === undefined) throw new Error('nothing to claim');
  const again: RetryProgress = {
    ...chunkReport(chunk, {}),
    kind: 'retries',
    settlements: batch.ordinals.map((ordinal, index) => ({
      ordinal,
      epoch: batch.epochs[index] ?? 0,
      ending: null,
      reason: 'Timeout',
      attempts: 2,
      dueInMs: 0,
      isUncertain: true,
      isReached: true,
    })),
  };
  await ledger.record(again);
  await ledger.record(again);
  t.match(await rowOf(sql, tenant.clientId, id), { uncertain: 3 });
}

async function started(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const tenant = await makeTenant(sql, 'started');
  const id = await makeRunning(sql, tenant, 1_000, { isAtMostOnce: true });
  const first = await claimOne(sql, id);
  t.match(first, { terms: { isAtMostOnce: true }, startedBlocks: '0', hasDelivered: false });
  await ledger.record(chunkReport(first, { started: 0b111n }));
  await ledger.record(chunkReport(first, { blocks: 1n, counts: delivered(128) }));
  await sql`update chunks set lease_until = now() where notification_id = ${id}`;
  const second = await claimOne(sql, id);
  t.match(second, { startedBlocks: '7', doneBlocks: '1', hasDelivered: true });
  await ledger.record(chunkReport(second, { releaseAfterMs: 0 }));
  const third = await claimOne(sql, id);
  t.equal(third.startedBlocks, '7', 'given back for a worker that was lost: as it was');
  await ledger.record(chunkReport(third, { started: 0n, releaseAfterMs: 0 }));
  t.equal((await claimOne(sql, id)).startedBlocks, '0', 'given back in order: nothing is open');

  await releaseAllLeases(sql);
  const last = await claimOne(sql, id);
  await ledger.record(
    chunkReport(last, {
      blocks: -2n,
      counts: { ...NOTHING, total: 872, delivered: 870 },
      retries: [1, 2].map((ordinal) => ({
        ordinal: 500 + ordinal,
        attempts: 1,
        reason: 'TooManyRequests',
        dueInMs: 0,
        isUncertain: false,
      })),
    }),
  );
  const [fresh] = await claimRetriesOf(sql, id, LEASE_MS);
  t.strictSame(fresh?.wereLost, [false, false]);
  await releaseAllLeases(sql);
  const [lost] = await claimRetriesOf(sql, id, LEASE_MS);
  t.strictSame(lost?.wereLost, [true, true], 'its process has died with them');
}

async function observations(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const tenant = await makeTenant(sql, 'news');
  const id = await makeRunning(sql, tenant, 4);
  await sql`update devices set refusals = 2, refused_at = now() where app_id = ${tenant.appId}`;
  await ledger.record(
    chunkReport(await claimOne(sql, id), {
      blocks: -1n,
      counts: delivered(4),
      observations: [
        { ordinal: 1, kind: 'moved', environment: 'sandbox' },
        { ordinal: 2, kind: 'restored' },
      ],
    }),
  );
  const rows = await sql`
    select refusals, refused_at is not null as refused, apns_environment as environment
    from devices where app_id = ${tenant.appId} order by ordinal`;
  const unchanged = { refusals: 2, refused: true, environment: null };
  t.strictSame(
    rows.map((row) => ({ ...row })),
    [
      unchanged,
      { refusals: 0, refused: false, environment: 'sandbox' },
      { refusals: 0, refused: false, environment: null },
      unchanged,
    ],
  );
}
