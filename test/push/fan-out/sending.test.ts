import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { readExpression } from '../../../src/domain/audience-expression.ts';
import { accepted, deliveries } from '../../support/client.ts';
import { finalRows, pushTo, seed, submit } from '../../support/fan-out-pushes.ts';
import { makeTag, makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';
import { seedDevices } from '../../support/seed.ts';
import { fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

const simulator = await freshSimulator();

await withStores(t, async (t, store) => {
  const fanOut = await fanOutFor(t, store, simulator);

  await t.test('every device gets the push once, on both providers', async (t) => {
    await behave(simulator, {});
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

  await t.test('workers send to whom an expression means, and to nobody else', async (t) => {
    await behave(simulator, {});
    const tenant = await makeTenant(store.sql, 'expressed');
    const { clientId, appId, tagId } = tenant;
    const muted = await makeTag(store.sql, clientId, { sourceId: 'muted' });
    const other = await makeTag(store.sql, clientId, { sourceId: 'other' });
    for (const [tagIds, count] of [
      [[tagId], 200],
      [[tagId, muted], 300],
      [[other], 40],
      [[other, tagId, muted], 50],
    ] as const) {
      await seedDevices(store.sql, { appId, platformId: 3, tagIds, count });
    }
    const read = readExpression('news && !muted || other && !(news && muted)');
    if (!read.ok) throw new Error(read.fault.message);
    const target = { ids: [], sourceIds: [] };
    const push = pushTo(tenant, { target, expression: read.expression });
    const rows = await finalRows(store, tenant, await submit(fanOut, tenant, push));
    t.match(rows, [{ platformId: 3, state: 'FINISHED', total: 240, delivered: 240 }, { total: 0 }]);
    t.match(await deliveries(simulator.controlUrl, 'apns'), { tokens: 240, times: { 1: 240 } });
  });

  await t.test('nobody subscribed: finished with 0', async (t) => {
    const tenant = await makeTenant(store.sql, 'nobody');
    const rows = await finalRows(store, tenant, await submit(fanOut, tenant));
    t.match(rows, [
      { state: 'FINISHED', total: 0 },
      { state: 'FINISHED', total: 0 },
    ]);
  });

  await t.test('what has expired is counted and not sent', async (t) => {
    await behave(simulator, {});
    const tenant = await makeTenant(store.sql, 'expired');
    await seed(store, tenant, { 3: 300 });
    const push = pushTo(tenant, { expiresAtMs: Date.now() - 1_000 });
    const rows = await finalRows(store, tenant, await submit(fanOut, tenant, push));
    t.match(rows[0], { state: 'FINISHED', total: 300, expired: 300 });
    t.equal(await accepted(simulator.controlUrl, 'apns'), 0);
  });

  await fanOut.drain();

  await t.test('connections are open before a scheduled send is due', async (t) => {
    const peer = await startProviderPeer({ script: (request) => answer(request, 200) });
    t.teardown(() => peer.close());
    const { origin, ca } = peer;
    const warmed = await fanOutFor(t, store, simulator, {
      origins: { apnsProduction: origin, ca },
    });
    const tenant = await makeTenant(store.sql, 'warm');
    await seed(store, tenant, { 3: 10 });
    const push = pushTo(tenant, { sendAtMs: Date.now() + 60_000 });
    const id = await submit(warmed, tenant, push);
    await until('a connection', async () => {
      // Near, and never due.
      await store.sql`update notifications set send_at = now() + interval '8 seconds' where id = ${id}`;
      return peer.connections() > 0 ? true : null;
    });
    t.equal(peer.received.length, 0, 'nothing has been sent');
    await store.sql`update notifications set send_at = now() where id = ${id}`;
    t.match((await finalRows(store, tenant, id))[0], { delivered: 10 });
    t.equal(peer.connections(), 1, 'and the send has used it');
    await warmed.drain();
  });

  await t.test('drained in the middle and started again: none missed, none twice', (t) =>
    drained(t, store),
  );
});

async function drained(t: Test, store: Store): Promise<void> {
  // So few at a time that a drain, however late it comes, is in the middle.
  await behave(simulator, { latencyMs: 200, maxConcurrentStreams: 10 });
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
