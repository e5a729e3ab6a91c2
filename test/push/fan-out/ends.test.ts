import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { pushTo, seed, submit } from '../../support/fan-out-pushes.ts';
import type { Tenant } from '../../support/notifications.ts';
import { makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';
import { fanOutFor } from '../../support/sending.ts';
import { freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

/** Longer than the ttl: by the time a send is given up, nothing may be tried again. */
const REQUEST_TIMEOUT_MS = 5_500;
/** On a busy machine the first send takes a second or two to begin. */
const TTL_SECONDS = 5;

const simulator = await freshSimulator();

const ended = (store: Store, { clientId }: Tenant, id: string) =>
  until(`${id} has ended`, async () => {
    const rows = (await readStatus(store.sql, clientId, id)) ?? [];
    return rows.every(({ state }) => state === 'FINISHED' || state === 'FAILED') ? rows : null;
  });

const payloadOf = (ttlSeconds: number) => ({ title: 'goal!', data: {}, ttlSeconds });

await withStores(t, async (t, store) => {
  await t.test('a provider that never answers: what it was asked once expires with the ttl', (t) =>
    neverAnswered(t, store),
  );
  await t.test('a ttl of 0 is one attempt', (t) => oneAttempt(t, store));
});

async function neverAnswered(t: Test, store: Store): Promise<void> {
  const silent = await startProviderPeer({ script: () => undefined });
  t.teardown(() => silent.close());
  const { origin, ca } = silent;
  const fanOut = await fanOutFor(t, store, simulator, {
    origins: { apnsProduction: origin, fcm: origin, ca: `${ca}\n${simulator.certificatePem}` },
    limits: { requestTimeoutMs: REQUEST_TIMEOUT_MS },
  });
  const tenant = await makeTenant(store.sql, 'never-answered');
  await seed(store, tenant, { 3: 5, 15: 5 });
  const id = await submit(fanOut, tenant, pushTo(tenant, { payload: payloadOf(TTL_SECONDS) }));
  t.match(await ended(store, tenant, id), [
    { platformId: 3, total: 5, expired: 5 },
    { platformId: 15, total: 5, expired: 5 },
  ]);
  t.equal(silent.received.length, 10);
  await fanOut.drain();
}

async function oneAttempt(t: Test, store: Store): Promise<void> {
  const peer = await startProviderPeer({ script: (request) => answer(request, 503) });
  t.teardown(() => peer.close());
  const { origin, ca } = peer;
  const fanOut = await fanOutFor(t, store, simulator, { origins: { apnsProduction: origin, ca } });
  const tenant = await makeTenant(store.sql, 'one-attempt');
  await seed(store, tenant, { 3: 10 });
  const id = await submit(fanOut, tenant, pushTo(tenant, { payload: payloadOf(0) }));
  const [row] = await ended(store, tenant, id);
  t.match(row, { total: 10, expired: 10 });
  t.equal(peer.received.length, 10);
  await fanOut.drain();
}
