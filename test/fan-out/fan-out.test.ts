import type { Test } from 'tap';
import t from 'tap';
import type { ApnsCredential, ProviderCredential } from '../../src/domain/credential.ts';
import type { FanOut } from '../../src/fan-out/fan-out.ts';
import type { Push } from '../../src/fan-out/push.ts';
import type { ScopeStatus } from '../../src/store/notifications/read-status.ts';
import { readStatus } from '../../src/store/notifications/read-status.ts';
import type { Store } from '../../src/store/store.ts';
import { accepted, deliveries } from '../support/client.ts';
import type { Tenant } from '../support/notifications.ts';
import { makeTag, makeTenant } from '../support/notifications.ts';
import { until } from '../support/poll.ts';
import { apnsCredential, fcmCredential } from '../support/provider-credentials.ts';
import { answer, startProviderPeer } from '../support/provider-peer.ts';
import { seedDevices } from '../support/seed.ts';
import { behave, credentialOf, fanOutFor, simulatorFor } from '../support/sending.ts';
import { withStores } from '../support/store.ts';

const FINAL = new Set(['FINISHED', 'FAILED', 'CANCELLED']);

const pushTo = ({ tagId }: Tenant, more: Partial<Push> = {}): Push => ({
  target: { ids: [tagId], sourceIds: [] },
  filter: { ids: [], sourceIds: [] },
  exclude: { ids: [], sourceIds: [] },
  appIds: null,
  delivery: 'at-least-once',
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

const keyOf = ({ privateKey }: ApnsCredential) => ({ privateKey });

const simulator = await simulatorFor(t);

await withStores(t, async (t, store) => {
  await t.test(
    'a provider that fails for everyone: seen, waited for, probed, sent on',
    async (t) => {
      await behave(simulator, { shares: { serverError: 1 } });
      const fanOut = await fanOutFor(t, store, simulator);
      const tenant = await makeTenant(store.sql, 'circuit');
      await seed(store, tenant, { 3: 1_000 });
      const id = await submit(fanOut, tenant);
      const waiting = await until('the job says what it waits for', async () => {
        const rows = await readStatus(store.sql, tenant.clientId, id);
        return rows?.find(({ waitingFor }) => waitingFor !== null) ?? null;
      });
      t.match(waiting, { state: 'RUNNING', waitingFor: /InternalServerError|ServiceUnavailable/ });
      t.match(fanOut.circuits.readings, [{ appId: tenant.appId, platformId: 3, openThreads: 1 }]);
      await behave(simulator, {});
      const rows = await finalRows(store, tenant, id);
      t.match(rows[0], { state: 'FINISHED', total: 1_000, delivered: 1_000, waitingFor: null });
      await until('the circuit is closed', () =>
        fanOut.circuits.readings.length === 0 ? true : null,
      );
      await fanOut.drain();
    },
  );

  await t.test(
    'a host that is not there: the job says which, and the other platform is sent',
    async (t) => {
      const gone = await startProviderPeer({ script: () => undefined });
      await gone.close();
      await behave(simulator, {});
      const fanOut = await fanOutFor(t, store, simulator, { origins: { fcm: gone.origin } });
      const tenant = await makeTenant(store.sql, 'no-host');
      await seed(store, tenant, { 3: 300, 15: 3 });
      const id = await submit(fanOut, tenant);
      const rows = await until('one is sent, the other waits', async () => {
        const [apns, fcm] = (await readStatus(store.sql, tenant.clientId, id)) ?? [];
        return apns?.delivered === 300 && fcm?.waitingFor ? [apns, fcm] : null;
      });
      t.match(rows[1]?.waitingFor, /127\.0\.0\.1:\d+ refuses connections/);
      t.equal(rows[0]?.waitingFor, null);
      await fanOut.drain();
      await store.sql`delete from notifications where id = ${id}`;
    },
  );

  await t.test('connections are open before a scheduled send is due', async (t) => {
    const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
    t.teardown(() => peer.close());
    const { origin, ca } = peer;
    const fanOut = await fanOutFor(t, store, simulator, {
      origins: { apnsProduction: origin, ca },
    });
    const tenant = await makeTenant(store.sql, 'warm');
    await seed(store, tenant, { 3: 10 });
    const push = pushTo(tenant, { sendAtMs: Date.now() + 60_000 });
    const id = await submit(fanOut, tenant, push);
    await until('a connection', async () => {
      // Near, and never due.
      await store.sql`update notifications set send_at = now() + interval '8 seconds' where id = ${id}`;
      return peer.connections() > 0 ? true : null;
    });
    t.equal(peer.received.length, 0, 'nothing has been sent');
    await store.sql`update notifications set send_at = now() where id = ${id}`;
    t.match((await finalRows(store, tenant, id))[0], { delivered: 10 });
    t.equal(peer.connections(), 1, 'and the send has used it');
    await fanOut.drain();
  });

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

  await t.test(
    'small sends beside a big one on a slow provider: of the same app, and of another tenant',
    async (t) => {
      await behave(simulator, { latencyMs: 100, maxConcurrentStreams: 10 });
      const fanOut = await fanOutFor(t, store, simulator);
      const big = await makeTenant(store.sql, 'big');
      const small = {
        ...big,
        tagId: await makeTag(store.sql, big.clientId, { sourceId: 'small' }),
      };
      const other = await makeTenant(store.sql, 'other');
      await seed(store, big, { 3: 30_000 });
      for (const tenant of [small, other]) await seed(store, tenant, { 3: 10 });
      const bigId = await submit(fanOut, big);
      const bigRow = async () => (await readStatus(store.sql, big.clientId, bigId))?.[0];
      const before = await until('it is well under way', async () => {
        const delivered = (await bigRow())?.delivered ?? 0;
        return delivered > 1_000 ? delivered : null;
      });
      const ids = await Promise.all([small, other].map((tenant) => submit(fanOut, tenant)));
      const rows = await Promise.all([
        finalRows(store, small, ids[0] ?? ''),
        finalRows(store, other, ids[1] ?? ''),
      ]);
      const addressed = (rows: readonly { total: number }[]) =>
        rows.filter(({ total }) => total > 0);
      t.match(addressed(rows.flat()), [{ delivered: 10 }, { delivered: 10 }]);
      const after = await bigRow();
      t.equal(after?.state, 'RUNNING', 'the big one is far from its end');
      t.ok((after?.delivered ?? 0) - before < 15_000, `${before}, then ${after?.delivered}`);
      t.match(addressed(await finalRows(store, big, bigId)), [{ delivered: 30_000 }]);
      await fanOut.drain();
    },
  );

  await t.test('a provider with faults: sums close, dead tokens go, nobody gets it twice', (t) =>
    faults(t, store),
  );

  await t.test("two nodes share a project's quota; APNs is not held up by it", async (t) => {
    await behave(simulator, {});
    // A burst of 100, then ten to a hundred a second.
    const nodes = [
      await fanOutFor(t, store, simulator, { fcmPerMinute: 6_000 }),
      await fanOutFor(t, store, simulator, { fcmPerMinute: 6_000 }),
    ];
    const tenant = await makeTenant(store.sql, 'metered');
    await seed(store, tenant, { 3: 1_500, 15: 130 });
    const [first] = nodes;
    if (first === undefined) throw new Error('no node');
    const startMs = performance.now();
    const rows = await finalRows(store, tenant, await submit(first, tenant));
    const passedMs = performance.now() - startMs;
    t.match(rows, [
      { platformId: 3, delivered: 1_500 },
      { platformId: 15, state: 'FINISHED', total: 130, delivered: 130 },
    ]);
    t.ok(130 <= 100 + passedMs / 10, `no faster than the quota allows: ${passedMs} ms`);
    t.match(await deliveries(simulator.controlUrl, 'fcm'), { tokens: 130, times: { 1: 130 } });
  });

  await t.test('a new key that is refused: the old one sends on, and no send stops', async (t) => {
    await behave(simulator, {});
    const broken = new Map<number, ProviderCredential>([
      [3, { ...apnsCredential(), ...simulator.accounts.apns, ...keyOf(apnsCredential()) }],
      [15, fcmCredential()],
    ]);
    const fellBack: string[] = [];
    const fanOut = await fanOutFor(t, store, simulator, {
      source: (_appId, platformId) => {
        const credential = broken.get(platformId);
        return Promise.resolve(
          credential === undefined
            ? { credential: credentialOf(simulator, platformId), fallBack: null }
            : {
                credential,
                fallBack: (reason) => {
                  if (broken.delete(platformId)) fellBack.push(`${platformId} ${reason}`);
                  return Promise.resolve();
                },
              },
        );
      },
    });
    const tenant = await makeTenant(store.sql, 'rotated');
    await seed(store, tenant, { 3: 1_000, 15: 130 });
    const rows = await finalRows(store, tenant, await submit(fanOut, tenant));
    t.match(rows, [
      { platformId: 3, state: 'FINISHED', total: 1_000, delivered: 1_000, fault: null },
      { platformId: 15, state: 'FINISHED', total: 130, delivered: 130, fault: null },
    ]);
    t.match(fellBack.sort(), [/^15 token request: invalid_/, /^3 InvalidProviderToken$/]);
    t.match(await deliveries(simulator.controlUrl, 'apns'), { tokens: 1_000, times: { 1: 1_000 } });
  });

  await t.test('tokens of the other environment are delivered there, and it is learned', (t) =>
    otherEnvironment(t, store),
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
  const alive = 800 - (row.reasons?.['Unregistered'] ?? 0);
  await until('the dead ones are erased', async () => {
    const [devices] = await store.sql<{ count: number }[]>`
      select count(*) from devices where app_id = ${tenant.appId}`;
    return devices?.count === alive ? true : null;
  });
  const [refused] = await store.sql<{ count: number }[]>`
    select count(*) from devices where app_id = ${tenant.appId} and refusals = 1`;
  t.equal(refused?.count, row.reasons?.['BadDeviceToken'] ?? 0, 'refused ones are counted');
}

async function otherEnvironment(t: Test, store: Store): Promise<void> {
  const sandbox = await startProviderPeer({ script: (request) => answer(request, 200) });
  t.teardown(() => sandbox.close());
  await behave(simulator, {
    shares: { gone: 0, badToken: 1, serverError: 0 },
    ends: { goAway: 0 },
  });
  const fanOut = await fanOutFor(t, store, simulator, {
    origins: {
      apnsSandbox: sandbox.origin,
      ca: `${simulator.certificatePem}\n${sandbox.ca}`,
    },
  });
  const tenant = await makeTenant(store.sql, 'other-environment');
  await seed(store, tenant, { 3: 300 });
  const asked = async () => {
    const response = await fetch(`${simulator.controlUrl}/state`);
    const { apns } = (await response.json()) as { apns: { rejected: Record<string, number> } };
    return apns.rejected['BadDeviceToken'] ?? 0;
  };
  const before = await asked();
  const [row] = await finalRows(store, tenant, await submit(fanOut, tenant));
  t.match(row, { state: 'FINISHED', total: 300, delivered: 300 });
  t.equal((await asked()) - before, 300, 'its own environment was asked first');
  await until('it is learned', async () => {
    const [learned] = await store.sql<{ count: number }[]>`
      select count(*) from devices where app_id = ${tenant.appId} and apns_environment = 'sandbox'`;
    return learned?.count === 300 ? true : null;
  });
  const [again] = await finalRows(store, tenant, await submit(fanOut, tenant));
  t.match(again, { total: 300, delivered: 300 });
  t.equal(sandbox.received.length, 600);
  t.equal((await asked()) - before, 300, 'and is not asked again');
  await behave(simulator, { shares: { badToken: 0 } });
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
