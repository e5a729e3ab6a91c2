import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { DEFAULT_PUSH_OPTIONS } from '../../../src/domain/push-options.ts';
import type { ScopeStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { deliveries } from '../../support/client.ts';
import { finalRows, pushTo, seed, submit } from '../../support/fan-out-pushes.ts';
import { makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { startProviderPeer } from '../../support/provider-peer.ts';
import { fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

const sumCloses = (row: ScopeStatus): boolean =>
  row.total === row.delivered + row.failed + row.skipped + row.expired + row.cancelled;

const simulator = await freshSimulator();

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
      t.match(fanOut.circuitBreakers.readings, [
        { appId: tenant.appId, platformId: 3, openThreads: 1 },
      ]);
      await behave(simulator, {});
      const rows = await finalRows(store, tenant, id);
      t.match(rows[0], { state: 'FINISHED', total: 1_000, delivered: 1_000, waitingFor: null });
      await until('the circuit is closed', () =>
        fanOut.circuitBreakers.readings.length === 0 ? true : null,
      );
      await fanOut.drain();
    },
  );

  await t.test('one odd refusal of a good credential fails nobody else', async (t) => {
    await behave(simulator, {});
    const fanOut = await fanOutFor(t, store, simulator);
    const tenant = await makeTenant(store.sql, 'odd-refusal');
    await seed(store, tenant, { 3: 60, 15: 60 });
    const refusals = { 3: ['apns', 'InvalidProviderToken'], 15: ['fcm', 'PERMISSION_DENIED'] };
    for (const [platformId, [provider, reason]] of Object.entries(refusals)) {
      const [sixth] = await store.sql<{ token: string }[]>`
        select device_id as token from devices
        where app_id = ${tenant.appId} and platform_id = ${platformId} order by ordinal offset 5`;
      const url = `${simulator.controlUrl}/tokens/${provider}/${encodeURIComponent(String(sixth?.token))}`;
      const body = JSON.stringify({ status: 403, reason, times: 1 });
      const response = await fetch(url, { method: 'PUT', body });
      await response.text();
      t.equal(response.status, 200);
    }
    const id = await submit(
      fanOut,
      tenant,
      pushTo(tenant, { options: { ...DEFAULT_PUSH_OPTIONS, ratePerSecond: 40 } }),
    );
    const rows = await finalRows(store, tenant, id);
    t.match(rows, [
      { state: 'FINISHED', delivered: 59, failed: 1, reasons: { InvalidProviderToken: 1 } },
      { state: 'FINISHED', delivered: 59, failed: 1, reasons: { PERMISSION_DENIED: 1 } },
    ]);
    await fanOut.drain();
  });

  await t.test('odd refusals all day: who is not refused is sent to', async (t) => {
    await behave(simulator, {});
    const fanOut = await fanOutFor(t, store, simulator);
    const tenant = await makeTenant(store.sql, 'odd-refusals');
    await seed(store, tenant, { 3: 300 });
    // A key whose very first answer is a refusal is wrong: this one has worked before.
    const [before] = await finalRows(store, tenant, await submit(fanOut, tenant));
    t.equal(before?.delivered, 300);
    await behave(simulator, { scenarios: ['odd-refusal'], shares: { badCredential: 0.02 } });
    const [row] = await finalRows(store, tenant, await submit(fanOut, tenant));
    t.match(row, { state: 'FINISHED', total: 300 });
    t.ok((row?.delivered ?? 0) > 280, JSON.stringify(row));
    await fanOut.drain();
  });

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

  await t.test('a provider with faults: sums close, dead tokens go, nobody gets it twice', (t) =>
    faults(t, store),
  );
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
  const bad = row.reasons?.['BadDeviceToken'] ?? 0;
  t.ok(bad > 0, 'some are refused');
  await until('refused ones are counted', async () => {
    const [refused] = await store.sql<{ count: number }[]>`
      select count(*) from devices where app_id = ${tenant.appId} and refusals = 1`;
    return refused?.count === bad ? true : null;
  });
}
