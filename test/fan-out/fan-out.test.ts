import type { Test } from 'tap';
import t from 'tap';
import type { FanOut } from '../../src/fan-out/fan-out.ts';
import type { Push } from '../../src/fan-out/push.ts';
import type { ScopeStatus } from '../../src/store/notifications/read-status.ts';
import { readStatus } from '../../src/store/notifications/read-status.ts';
import type { Store } from '../../src/store/store.ts';
import { accepted, deliveries } from '../support/client.ts';
import type { Tenant } from '../support/notifications.ts';
import { makeTenant } from '../support/notifications.ts';
import { until } from '../support/poll.ts';
import { seedDevices } from '../support/seed.ts';
import { behave, fanOutFor, simulatorFor } from '../support/sending.ts';
import { withStores } from '../support/store.ts';

const FINAL = new Set(['FINISHED', 'FAILED', 'CANCELLED']);

const pushTo = ({ tagId }: Tenant, more: Partial<Push> = {}): Push => ({
  target: { ids: [tagId], sourceIds: [] },
  filter: { ids: [], sourceIds: [] },
  exclude: { ids: [], sourceIds: [] },
  appIds: null,
  payload: { title: 'goal!', data: {} },
  sendAtMs: null,
  expiresAtMs: null,
  ...more,
});

async function submit(fanOut: FanOut, tenant: Tenant, push = pushTo(tenant)): Promise<string> {
  const { clientId } = tenant;
  const acceptance = await fanOut.accept.submit(push, {
    clientId,
    userName: 't',
    idempotency: null,
  });
  if (acceptance.kind !== 'accepted') throw new Error(acceptance.kind);
  return acceptance.id;
}

const finalRows = (
  store: Store,
  { clientId }: Tenant,
  id: string,
): Promise<readonly ScopeStatus[]> =>
  until(`${id} is final`, async () => {
    const rows = (await readStatus(store.sql, clientId, id)) ?? [];
    return rows.every(({ state }) => FINAL.has(state)) ? rows : null;
  });

const sumCloses = (row: ScopeStatus): boolean =>
  row.total === row.delivered + row.failed + row.skipped + row.expired + row.cancelled;

async function seed(
  store: Store,
  { appId, tagId }: Tenant,
  counts: Readonly<Record<number, number>>,
) {
  for (const [platformId, count] of Object.entries(counts)) {
    await seedDevices(store.sql, { appId, platformId: Number(platformId), tagIds: [tagId], count });
  }
}

const simulator = await simulatorFor(t);

await withStores(t, async (t, store) => {
  await t.test('every device gets the push once, on both providers', async (t) => {
    await behave(simulator, {});
    const fanOut = await fanOutFor(t, store, simulator);
    const tenant = await makeTenant(store.sql, 'both');
    await seed(store, tenant, { 3: 1_500, 15: 300 });
    const rows = await finalRows(store, tenant, await submit(fanOut, tenant));
    t.match(rows, [
      { platformId: 3, state: 'FINISHED', total: 1_500, delivered: 1_500, isSimulated: true },
      { platformId: 15, state: 'FINISHED', total: 300, delivered: 300 },
    ]);
    t.match(await deliveries(simulator.controlUrl, 'apns'), {
      tokens: 1_500,
      times: { 1: 1_500 },
    });
    t.match(await deliveries(simulator.controlUrl, 'fcm'), { tokens: 300, times: { 1: 300 } });
  });

  await t.test('a provider with faults: sums close, dead tokens go, nobody gets it twice', (t) =>
    faults(t, store),
  );

  await t.test('without a credential the row fails and nothing is sent', async (t) => {
    await behave(simulator, {});
    const credentials = () => Promise.resolve(null);
    const fanOut = await fanOutFor(t, store, simulator, { credentials });
    const tenant = await makeTenant(store.sql, 'no-credential');
    await seed(store, tenant, { 3: 300 });
    const rows = await finalRows(store, tenant, await submit(fanOut, tenant));
    t.match(rows, [
      { platformId: 3, state: 'FAILED', total: 300, failed: 300, fault: 'MissingCredential' },
      { platformId: 15, state: 'FAILED', total: 0, fault: null },
    ]);
    t.match(rows[0]?.reasons, { MissingCredential: 300 });
  });

  await t.test('drained in the middle and started again: none missed, none twice', (t) =>
    drained(t, store),
  );

  await t.test('nobody subscribed: finished with 0', async (t) => {
    const fanOut = await fanOutFor(t, store, simulator);
    const tenant = await makeTenant(store.sql, 'nobody');
    const rows = await finalRows(store, tenant, await submit(fanOut, tenant));
    t.match(rows, [
      { state: 'FINISHED', total: 0 },
      { state: 'FINISHED', total: 0 },
    ]);
  });

  await t.test('what has expired is counted and not sent', async (t) => {
    await behave(simulator, {});
    const fanOut = await fanOutFor(t, store, simulator);
    const tenant = await makeTenant(store.sql, 'expired');
    await seed(store, tenant, { 3: 300 });
    const push = pushTo(tenant, { expiresAtMs: Date.now() - 1_000 });
    const rows = await finalRows(store, tenant, await submit(fanOut, tenant, push));
    t.match(rows[0], { state: 'FINISHED', total: 300, expired: 300 });
    t.equal(await accepted(simulator.controlUrl, 'apns'), 0);
  });
});

async function faults(t: Test, store: Store): Promise<void> {
  await behave(simulator, {
    shares: { gone: 0.05, badToken: 0.03, serverError: 0.02 },
    ends: { goAway: 300 },
    seed: 7,
  });
  const fanOut = await fanOutFor(t, store, simulator);
  const tenant = await makeTenant(store.sql, 'faults');
  await seed(store, tenant, { 3: 800 });
  const id = await submit(fanOut, tenant);
  const [row] = await finalRows(store, tenant, id);
  if (row === undefined) throw new Error('no row');
  t.ok(sumCloses(row), JSON.stringify(row));
  t.equal(row.total, 800);
  t.ok(row.failed > 20 && row.failed < 200, `${row.failed} failed`);
  const { times } = await deliveries(simulator.controlUrl, 'apns');
  t.strictSame(times, { ...(times['0'] === undefined ? {} : { 0: times['0'] }), 1: row.delivered });
  const [devices] = await store.sql<{ count: number }[]>`
    select count(*) from devices where app_id = ${tenant.appId}`;
  t.equal(devices?.count, 800 - (row.reasons?.['Unregistered'] ?? 0));
}

async function drained(t: Test, store: Store): Promise<void> {
  await behave(simulator, { latencyMs: 200 });
  const tenant = await makeTenant(store.sql, 'drained');
  await seed(store, tenant, { 3: 3_000 });
  const first = await fanOutFor(t, store, simulator);
  const id = await submit(first, tenant);
  await untilDelivered(200);
  await first.drain();
  const before = await accepted(simulator.controlUrl, 'apns');
  t.ok(before < 3_000, `${before} sent before the drain`);
  const [chunks] = await store.sql`
    select count(*) as open, count(lease_until) as leased from chunks where notification_id = ${id}`;
  t.ok(Number(chunks?.['open']) > 0 && chunks?.['leased'] === 0, 'everything is given back');

  await fanOutFor(t, store, simulator);
  const [row] = await finalRows(store, tenant, id);
  t.match(row, { state: 'FINISHED', total: 3_000, delivered: 3_000 });
  t.match(await deliveries(simulator.controlUrl, 'apns'), { tokens: 3_000, times: { 1: 3_000 } });
}

function untilDelivered(count: number): Promise<true> {
  return until(`${count} delivered`, async () =>
    (await accepted(simulator.controlUrl, 'apns')) >= count ? true : null,
  );
}
