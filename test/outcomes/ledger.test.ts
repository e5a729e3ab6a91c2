import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import type { Counts } from '../../src/domain/notification.ts';
import type { ChunkProgress, RetryProgress } from '../../src/domain/progress.ts';
import { Ledger } from '../../src/outcomes/ledger.ts';
import { systemClock } from '../../src/std/clock.ts';
import type { ClaimedChunk } from '../../src/store/ledger/claim-chunks.ts';
import type { ClaimedRetries } from '../../src/store/ledger/claim-retries.ts';
import { readStatus } from '../../src/store/notifications/read-status.ts';
import type { Sql } from '../../src/store/sql.ts';
import type { Store } from '../../src/store/store.ts';
import {
  claimChunksOf,
  claimRetriesOf,
  makeRunning,
  makeTenant,
} from '../support/notifications.ts';
import { withStores } from '../support/store.ts';

const LEASE_MS = 60_000;
const NOTHING: Counts = { total: 0, delivered: 0, failed: 0, skipped: 0, expired: 0, cancelled: 0 };

const ledgerOf = ({ sql }: Store): Ledger =>
  new Ledger({
    sql,
    leaseMs: LEASE_MS,
    clock: systemClock,
    log: pino({ level: 'silent' }),
    onRecorded: () => undefined,
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

const report = (chunk: ClaimedChunk, more: Partial<ChunkProgress>): ChunkProgress => ({
  kind: 'chunk',
  notificationId: chunk.notificationId,
  appId: chunk.appId,
  platformId: chunk.platformId,
  groupNumber: chunk.groupNumber,
  epoch: chunk.epoch,
  blocks: 0n,
  counts: NOTHING,
  reasons: [],
  retries: [],
  deadTokens: [],
  fault: null,
  sends: 0,
  sentFromMs: null,
  sentToMs: null,
  releaseAfterMs: null,
  ...more,
});

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
  await t.test('dead tokens are erased, unless they registered again since', (t) =>
    deadTokensAreErased(t, store),
  );
});

async function progress(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);

  await t.test(
    'adds up, block by block, and the last block finishes the notification',
    async (t) => {
      const tenant = await makeTenant(sql, 'adds-up');
      const id = await makeRunning(sql, tenant, 300);
      const chunk = await claimOne(sql, id);
      const first = await ledger.record(
        report(chunk, {
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
        report(chunk, {
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
    const late = report(frozen, {
      blocks: 1n,
      counts: { ...NOTHING, total: 128, failed: 120 },
      reasons: [['Late', 120]],
      retries: [{ ordinal: 5, attempts: 1, reason: 'Late', dueInMs: 0 }],
    });
    t.strictSame(await ledger.record(late), { kind: 'lost' });
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
    const half = report(chunk, {
      blocks: 1n,
      counts: { ...NOTHING, total: 128, delivered: 127 },
      retries: [{ ordinal: 7, attempts: 1, reason: 'Timeout', dueInMs: 60_000 }],
    });
    t.match(await ledger.record(half), { kind: 'recorded' });
    t.match(await ledger.record(half), { kind: 'recorded' }, 'still its own');
    t.match(await rowOf(sql, tenant.clientId, id), { total: 128, delivered: 127 });
    const last = report(chunk, { blocks: -2n, counts: delivered(172) });
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
      const id = await makeRunning(sql, tenant, 8_192 * 3);
      const [good, bad, fine] = await claim(sql, id, 3);
      if (good === undefined || bad === undefined || fine === undefined)
        throw new Error('three chunks');
      const verdicts = await Promise.all([
        ledger.record(report(good, { blocks: -1n, counts: delivered(8_192) })),
        ledger.record(report(bad, { blocks: 1n, reasons: [['NUL \0', 1]], counts: delivered(1) })),
        ledger.record(report(fine, { blocks: -1n, counts: delivered(8_192) })),
      ]);
      t.strictSame(
        verdicts.map(({ kind }) => kind),
        ['recorded', 'lost', 'recorded'],
      );
      t.match(await rowOf(sql, tenant.clientId, id), { total: 16_384, delivered: 16_384 });
    },
  );
}

async function retries(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const tenant = await makeTenant(sql, 'retries');
  const id = await makeRunning(sql, tenant, 300);
  const chunk = await claimOne(sql, id);
  const ordinals = [3, 4, 5, 6];
  await ledger.record(
    report(chunk, {
      blocks: -1n,
      counts: { ...NOTHING, total: 300, delivered: 296 },
      retries: ordinals.map((ordinal) => ({ ordinal, attempts: 1, reason: 'Timeout', dueInMs: 0 })),
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
    })),
    deadTokens: [],
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
  const id = await makeRunning(sql, tenant, 8_192 * groups);
  const nodes = [ledgerOf(store), ledgerOf(store), ledgerOf(store)];
  const chunks = await claim(sql, id, groups);
  t.equal(chunks.length, groups);
  const halves = [0x5555_5555_5555_5555n, -0x5555_5555_5555_5556n];
  await Promise.all(
    chunks.map(async (chunk, index) => {
      for (const blocks of halves) {
        const verdict = await nodes[index % nodes.length]?.record(
          report(chunk, { blocks, counts: delivered(4_096) }),
        );
        t.equal(verdict?.kind, 'recorded');
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
    t.match(await ledger.record(report(chunk, { ...fault, blocks: -1n, counts })), {
      state: 'FAILED',
      fault: 'BadCertificate',
    });
    await ledger.record(report(chunk, { fault: 'TooLate' }));
    t.match(await rowOf(sql, tenant.clientId, id), { state: 'FAILED', fault: 'BadCertificate' });
  });

  await t.test('after something was accepted do not', async (t) => {
    const tenant = await makeTenant(sql, 'fault-later');
    const id = await makeRunning(sql, tenant, 10);
    const counts = { ...NOTHING, total: 10, delivered: 1, failed: 9 };
    await ledger.record(report(await claimOne(sql, id), { ...fault, blocks: -1n, counts }));
    t.match(await rowOf(sql, tenant.clientId, id), { state: 'FINISHED', delivered: 1 });
  });

  await t.test('are told to whoever reports on the scope', async (t) => {
    const tenant = await makeTenant(sql, 'fault-told');
    const id = await makeRunning(sql, tenant, 8_192 * 2);
    const [finder, other] = await claim(sql, id, 2);
    if (finder === undefined || other === undefined) throw new Error('two chunks');
    const counts = { ...NOTHING, total: 128, failed: 128 };
    await ledger.record(report(finder, { ...fault, blocks: 1n, counts }));
    t.match(await ledger.record(report(other, {})), { fault: 'BadCertificate' });
  });
}

async function givingBack(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const tenant = await makeTenant(sql, 'given-back');
  const id = await makeRunning(sql, tenant, 300);
  const chunk = await claimOne(sql, id);
  t.equal((await claim(sql, id)).length, 0, 'it has a lease');
  await ledger.record(report(chunk, { blocks: 1n, counts: delivered(128), releaseAfterMs: 0 }));
  const successor = await claimOne(sql, id);
  t.match(successor, { epoch: chunk.epoch + 1, doneBlocks: '1' }, 'what was recorded stays');
  await ledger.record(report(successor, { releaseAfterMs: 60_000 }));
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
    t.match(await ledger.record(report(chunk, { blocks: 1n, counts: delivered(128) })), { state });
    const counts = { ...NOTHING, total: 172, cancelled: 172 };
    t.match(await ledger.record(report(chunk, { blocks: -2n, counts })), { state: end });
    const [row] =
      await sql`select finished_at is not null as final from notifications where id = ${id}`;
    t.equal(row?.['final'], true);
  }
}

async function deadTokensAreErased(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const ledger = ledgerOf(store);
  const tenant = await makeTenant(sql, 'dead');
  const id = await makeRunning(sql, tenant, 3);
  const chunk = await claimOne(sql, id);
  await sql`update devices set registered_at = now() where app_id = ${tenant.appId} and ordinal = 1`;
  const registeredBeforeMs = Date.now() - 3_600_000;
  const deadTokens = [0, 1].map((ordinal) => ({ ordinal, registeredBeforeMs }));
  const counts = { ...NOTHING, total: 3, failed: 2, delivered: 1 };
  await ledger.record(report(chunk, { blocks: -1n, counts, deadTokens }));
  const left =
    await sql`select ordinal from devices where app_id = ${tenant.appId} order by ordinal`;
  t.strictSame(
    left.map((row) => row['ordinal']),
    [1, 2],
  );
}
