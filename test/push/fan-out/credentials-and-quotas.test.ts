import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import type { ApnsCredential } from '../../../src/providers/apns/credential.ts';
import type { ProviderCredential } from '../../../src/providers/providers.ts';
import { deliveries } from '../../support/client.ts';
import { finalRows, seed, submit } from '../../support/fan-out-pushes.ts';
import { makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { apnsCredential, fcmCredential } from '../../support/provider-credentials.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';
import { credentialOf, fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

const keyOf = ({ privateKey }: ApnsCredential) => ({ privateKey });

const simulator = await freshSimulator();

await withStores(t, async (t, store) => {
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
            ? {
                credential: credentialOf(simulator, platformId),
                fallBack: null,
                wasAcceptedLately: false,
              }
            : {
                credential,
                wasAcceptedLately: false,
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

  await t.test('tokens of the other environment are delivered there, and it is learned', (t) =>
    otherEnvironment(t, store),
  );

  await t.test("two nodes share a project's quota; APNs is not held up by it", async (t) => {
    await behave(simulator, {});
    // A burst of 100, then ten to a hundred a second.
    const nodes = [
      await fanOutFor(t, store, simulator, { origins: { fcmPerMinute: 6_000 } }),
      await fanOutFor(t, store, simulator, { origins: { fcmPerMinute: 6_000 } }),
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
});

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
