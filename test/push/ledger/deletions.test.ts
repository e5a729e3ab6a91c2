import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { deletionGateOf } from '../../../src/domain/deletion-gate.ts';
import type { DeviceObservation } from '../../../src/domain/progress.ts';
import { Deletions } from '../../../src/push/ledger/deletions.ts';
import { Ledger } from '../../../src/push/ledger/ledger.ts';
import { carryOutDeletions } from '../../../src/push/sql/deletions/carry-out.ts';
import {
  decideDeletions,
  listHeldDeletions,
  listOpenDeletions,
} from '../../../src/push/sql/deletions/scopes.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { chunkReport } from '../../support/chunk-report.ts';
import type { Tenant } from '../../support/notifications.ts';
import {
  claimChunksOf,
  makeNotification,
  makeRunning,
  makeTenant,
} from '../../support/notifications.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { withStores } from '../../support/store.ts';

const log = pino({ level: 'silent' });

/** A look as any process would, also one that has just started. */
async function look({ sql }: Store): Promise<number> {
  let held = 0;
  await new Deletions({
    sql,
    feed: NO_FEED,
    log,
    onHeld: (_platformId, devices) => {
      held += devices;
    },
  }).run();
  return held;
}

/** Records what became of the devices of a notification; with `isFinished` all of its one chunk. */
async function answer(
  store: Store,
  notificationId: string,
  total: number,
  observations: readonly DeviceObservation[],
  isFinished = true,
): Promise<void> {
  const ledger = new Ledger({
    journal: SILENT_JOURNAL,
    store,
    feed: NO_FEED,
    leaseMs: 60_000,
    clock: systemClock,
    log,
    onRecorded: () => undefined,
  });
  const [chunk] = await claimChunksOf(store.sql, notificationId, 60_000);
  if (chunk === undefined) throw new Error('nothing to claim');
  const reply = await ledger.record(
    chunkReport(chunk, {
      blocks: isFinished ? -1n : 1n,
      counts: {
        total,
        delivered: total - observations.length,
        failed: observations.length,
        skipped: 0,
        expired: 0,
        cancelled: 0,
      },
      observations,
      sends: total,
    }),
  );
  if (reply.kind !== 'recorded') throw new Error('lost');
}

const eraseReasonOn =
  (kind: 'gone' | 'refused', registeredBeforeMs = Date.now()) =>
  (ordinal: number): DeviceObservation => ({ ordinal, kind, registeredBeforeMs });

const first = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

async function ordinalsOf({ sql }: Store, { appId }: Tenant): Promise<readonly number[]> {
  const rows = await sql<{ ordinal: number }[]>`
    select ordinal from devices where app_id = ${appId} order by ordinal`;
  return rows.map(({ ordinal }) => ordinal);
}

async function dead(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'dead');
  const id = await makeRunning(sql, tenant, 4);
  const eraseReason = eraseReasonOn('gone', Date.now() - 3_600_000);
  await answer(store, id, 4, [0, 1, 2].map(eraseReason));
  t.strictSame(await ordinalsOf(store, tenant), [0, 1, 2, 3], 'they are condemned');
  await sql`update devices set registered_at = now() where app_id = ${tenant.appId} and ordinal = 1`;
  const [before] = await sql<{ version: number }[]>`
    select version from device_groups where app_id = ${tenant.appId}`;
  await look(store);
  t.strictSame(await ordinalsOf(store, tenant), [1, 3], 'who registered since is saved');
  const [after] = await sql<{ version: number }[]>`
    select version from device_groups where app_id = ${tenant.appId}`;
  t.ok((after?.version ?? 0) > (before?.version ?? 0), 'the group has changed');
  const [left] = await sql`
    select deletions, (select count(*) from condemned_devices where notification_id = ${id}) as rows
    from notification_scopes where notification_id = ${id}`;
  t.strictSame({ ...left }, { deletions: null, rows: 0 });
}

async function gate(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const heldOf = async (slug: string) => {
    const tenant = await makeTenant(sql, slug);
    const id = await makeRunning(sql, tenant, 400);
    const observations = [
      ...first(150).map(eraseReasonOn('gone')),
      ...[200, 201].map(eraseReasonOn('refused')),
    ];
    await answer(store, id, 400, observations);
    t.equal(await look(store), 150);
    t.equal((await ordinalsOf(store, tenant)).length, 400, 'nobody is erased');
    const [row] = (await readStatus(sql, tenant.clientId, id)) ?? [];
    t.equal(row?.heldDeletions, 150, 'the job says so');
    t.equal(await look(store), 0, 'it is told once');
    const [counted] = await sql<{ count: number }[]>`
      select count(*) from devices where app_id = ${tenant.appId} and refusals > 0`;
    t.equal(counted?.count, 0, 'and its refusals count for nothing');
    return { tenant, id };
  };

  await t.test('released: erased', async (t) => {
    const { tenant, id } = await heldOf('released');
    t.match(await listHeldDeletions(sql), [
      { notificationId: id, client: 'released', held: 150, delivered: 248 },
    ]);
    await sql`update devices set registered_at = now() where app_id = ${tenant.appId} and ordinal = 7`;
    t.equal(await decideDeletions(sql, id, 'released'), 150);
    t.equal(await decideDeletions(sql, id, 'released'), null, 'none are held any more');
    await look(store);
    const left = await ordinalsOf(store, tenant);
    t.equal(left.length, 251);
    t.ok(left.includes(7), 'who registered while they were held is saved');
    const [row] = (await readStatus(sql, tenant.clientId, id)) ?? [];
    t.equal(row?.heldDeletions, 0);
  });

  await t.test('discarded: kept', async (t) => {
    const { tenant, id } = await heldOf('discarded');
    t.equal(await decideDeletions(sql, id, 'discarded'), 150);
    await look(store);
    t.equal((await ordinalsOf(store, tenant)).length, 400);
    const [left] = await sql<{ count: number }[]>`
      select count(*) from condemned_devices where notification_id = ${id}`;
    t.equal(left?.count, 0);
  });

  await t.test('nobody decides: discarded after a month', async (t) => {
    const { tenant, id } = await heldOf('forgotten');
    await sql`update notification_scopes set held_at = now() - interval '30 days'
      where notification_id = ${id} and deletions = 'held'`;
    await look(store);
    t.equal((await ordinalsOf(store, tenant)).length, 400);
    t.equal((await listHeldDeletions(sql)).length, 0);
  });
}

/** Apps that update register by installation id, and the tokens of before die by the thousand. */
async function migrated(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'migrated');
  const id = await makeRunning(sql, tenant, 2_600);
  const { appId } = tenant;
  // 0–1,499 are tokens, 1,500–2,499 the same installations as 0–999 by their ids; 2,500 and more
  // are others.
  await sql`update devices set device_id = lpad(to_hex(ordinal), 22, 'cabcdefghijklmnopq_-XY') || ':APA91b' || ordinal,
      registered_at = now() - interval '10 days'
    where app_id = ${appId} and ordinal < 1500`;
  await sql`update devices set device_id = lpad(to_hex(ordinal - 1500), 22, 'cabcdefghijklmnopq_-XY')
    where app_id = ${appId} and ordinal between 1500 and 2499`;
  await sql`update devices set device_key = left(encode(sha256(convert_to(device_id, 'UTF8')), 'hex'), 32)::uuid
    where app_id = ${appId}`;
  // One of them went back: its token is the younger.
  await sql`update devices set registered_at = now() - interval '20 days' where app_id = ${appId} and ordinal = 1507`;
  const gone = first(1_200).map(eraseReasonOn('gone'));
  await answer(store, id, 2_600, [...gone, eraseReasonOn('refused')(1_300)]);
  t.equal(await look(store), 0, 'what is left is a share to be believed');
  const left = await ordinalsOf(store, tenant);
  t.equal(left.length, 1_400, 'so all dead are erased');
  t.ok(left.includes(1_300) && left.includes(1_500));
  const [row] = (await readStatus(sql, tenant.clientId, id)) ?? [];
  t.match(row, { heldDeletions: 0, failed: 1_201 }, 'the counts of the job are what they were');

  // The same again, with more that nothing explains.
  const other = await makeTenant(sql, 'half-migrated');
  const otherId = await makeRunning(sql, other, 1_000);
  await sql`update devices set device_id = lpad(to_hex(ordinal % 500), 22, 'cabcdefghijklmnopq_-XY')
      || case when ordinal < 500 then ':APA91b' else '' end
    where app_id = ${other.appId} and (ordinal < 100 or ordinal between 500 and 599)`;
  await sql`update devices set registered_at = now() - interval '10 days'
    where app_id = ${other.appId} and ordinal < 500`;
  await sql`update devices set device_key = left(encode(sha256(convert_to(device_id, 'UTF8')), 'hex'), 32)::uuid
    where app_id = ${other.appId}`;
  await answer(store, otherId, 1_000, first(500).map(eraseReasonOn('gone')));
  t.equal(await look(store), 400, 'those are held');
  const kept = await ordinalsOf(store, other);
  t.equal(kept.length, 900);
  t.equal(kept[0], 100, 'and the tokens whose installations are registered are gone');
}

async function running(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'running');
  const id = await makeRunning(sql, tenant, 8_192 * 2);
  await answer(store, id, 128, first(5).map(eraseReasonOn('gone')), false);
  await look(store);
  t.equal((await ordinalsOf(store, tenant)).length, 16_384, '128 answers are too few');
  await answer(store, id, 8_192, [8_192, 8_193].map(eraseReasonOn('gone')));
  await look(store);
  t.equal((await ordinalsOf(store, tenant)).length, 16_384 - 7);
  const [scope] =
    await sql`select deletions from notification_scopes where notification_id = ${id}`;
  t.equal(scope?.['deletions'], 'pending', 'more may come');
}

/** Between the look at the counts and the deletion a send goes on. */
async function overtaken(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'overtaken');
  const id = await makeRunning(sql, tenant, 8_192 * 2);
  const scope = { notificationId: id, appId: tenant.appId, platformId: 3 };
  await answer(store, id, 8_192, first(200).map(eraseReasonOn('gone')));
  const [found] = await listOpenDeletions(sql, 10);
  t.equal(found === undefined ? null : deletionGateOf(found), 'passes', 'so it was found');
  await answer(
    store,
    id,
    2_000,
    first(2_000).map((n) => eraseReasonOn('gone')(8_192 + n)),
    false,
  );
  t.equal((await carryOutDeletions(sql, scope, 1_000)).devices, 0, 'and so it is no more');
  t.equal((await ordinalsOf(store, tenant)).length, 16_384);
  await sql`update notification_scopes set deletions = 'released' where notification_id = ${id}`;
  t.equal(
    (await carryOutDeletions(sql, scope, 1_000)).devices,
    1_000,
    'unless somebody has said so; a thousand at a time',
  );
}

async function refused(t: Test, store: Store): Promise<void> {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'refused');
  await makeRunning(sql, tenant, 10);
  const send = async (observations: readonly DeviceObservation[]): Promise<void> => {
    const id = await makeNotification(sql, tenant);
    await planDue(sql);
    await answer(store, id, 10, observations);
    await look(store);
  };
  const nextDay = () =>
    sql`update devices set refused_at = refused_at - interval '24 hours', registered_at = registered_at - interval '24 hours'
      where app_id = ${tenant.appId}`;
  const refusalsOf = async (): Promise<readonly number[]> => {
    const rows = await sql<{ refusals: number }[]>`
      select refusals from devices where app_id = ${tenant.appId} order by ordinal`;
    return rows.map(({ refusals }) => refusals);
  };
  const eraseReason = eraseReasonOn('refused');
  await send([0, 1, 2].map(eraseReason));
  await send([0, 1, 2].map(eraseReason));
  t.strictSame((await refusalsOf()).slice(0, 4), [1, 1, 1, 0], 'twice on a day is once');
  await nextDay();
  await send([eraseReason(0), eraseReason(1), { ordinal: 2, kind: 'restored' }]);
  t.strictSame((await refusalsOf()).slice(0, 4), [2, 2, 0, 0], 'a delivery forgives');
  await sql`update devices set registered_at = now() where app_id = ${tenant.appId} and ordinal = 1`;
  await nextDay();
  await send([eraseReasonOn('refused')(0), eraseReasonOn('refused', Date.now() - 86_500_000)(1)]);
  t.strictSame((await ordinalsOf(store, tenant)).slice(0, 2), [1, 2], 'the third time erases');
  t.equal((await refusalsOf())[0], 2, 'unless it registered since');
  await nextDay();
  const before = await refusalsOf();
  await send(first(10).map(eraseReasonOn('refused')));
  t.strictSame(await refusalsOf(), before, 'a whole send that is refused counts for nothing');
}

await withStores(t, async (t, store) => {
  await t.test('dead devices are erased, unless they registered again since', (t) =>
    dead(t, store),
  );
  await t.test('too many of a send: held, and an operator decides', (t) => gate(t, store));
  await t.test('tokens whose installation is registered by its id do not make the gate hold', (t) =>
    migrated(t, store),
  );
  await t.test('a running send is judged when enough has been answered', (t) => running(t, store));
  await t.test('a send that condemns more while it is looked at', (t) => overtaken(t, store));
  await t.test('refused devices are erased only after several sends', (t) => refused(t, store));
});
