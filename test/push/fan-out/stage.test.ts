/** Sends that pause by themselves after some devices, and go on to the rest when resumed. */

import t from 'tap';
import { DEFAULT_PUSH_OPTIONS } from '../../../src/domain/push-options.ts';
import type { Order } from '../../../src/push/sql/ledger/change-state.ts';
import { changeState } from '../../../src/push/sql/ledger/change-state.ts';
import { readNotification } from '../../../src/push/sql/notifications/read-notification.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { accepted } from '../../support/client.ts';
import { finalRows, pushTo, seed, submit } from '../../support/fan-out-pushes.ts';
import { makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { withPostgresStore, withStores } from '../../support/store.ts';

const DEVICES = 3_000;
const STAGE = 30;

const simulator = await freshSimulator();

await withStores(t, async (t, store) => {
  const { sql } = store;
  await behave(simulator, { latencyMs: 20 });
  const fanOut = await fanOutFor(t, store, simulator);

  await t.test('exactly so many have it, then the rest', async (t) => {
    const tenant = await makeTenant(sql, 'staged');
    await seed(store, tenant, { 3: DEVICES });
    const before = await accepted(simulator.controlUrl, 'apns');
    const sent = async () => (await accepted(simulator.controlUrl, 'apns')) - before;
    const options = { ...DEFAULT_PUSH_OPTIONS, pauseAfter: STAGE };
    const id = await submit(fanOut, tenant, pushTo(tenant, { options }));
    const read = () => readNotification(sql, tenant.clientId, id, null);
    const paused = await until('it pauses', async () => {
      const job = await read();
      return job?.state === 'PAUSED' ? job : null;
    });
    t.ok(paused.stageEndedAt);
    t.equal(paused.ratePerSecond, null, 'the rest is held to no rate');
    const [row] = (await readStatus(sql, tenant.clientId, id)) ?? [];
    t.equal(row?.delivered, STAGE);
    t.equal(await sent(), STAGE, 'the provider has seen no others');
    const order = (what: Order) =>
      sql.begin((tx) => changeState(tx, tenant.clientId, id, null, what));
    await order('resume');
    const [ended] = (await finalRows(store, tenant, id)).filter(({ total }) => total > 0);
    t.match(ended, { total: DEVICES, delivered: DEVICES, state: 'FINISHED' });
    t.equal(await sent(), DEVICES, 'nobody got it twice');
  });

  await t.test('an audience that is not larger just gets it', async (t) => {
    const tenant = await makeTenant(sql, 'small-stage');
    await seed(store, tenant, { 3: STAGE });
    const options = { ...DEFAULT_PUSH_OPTIONS, pauseAfter: STAGE };
    const id = await submit(fanOut, tenant, pushTo(tenant, { options }));
    const [ended] = (await finalRows(store, tenant, id)).filter(({ total }) => total > 0);
    t.match(ended, { delivered: STAGE, state: 'FINISHED' });
    t.equal((await readNotification(sql, tenant.clientId, id, null))?.stageEndedAt, null);
  });
  await fanOut.drain();
});

await withPostgresStore(t, async (t, store) => {
  await t.test('two nodes together send to no more', async (t) => {
    await behave(simulator, { latencyMs: 20 });
    const [first, second] = await Promise.all([
      fanOutFor(t, store, simulator),
      fanOutFor(t, store, simulator),
    ]);
    const tenant = await makeTenant(store.sql, 'two-nodes');
    await seed(store, tenant, { 3: DEVICES, 15: DEVICES });
    const options = { ...DEFAULT_PUSH_OPTIONS, pauseAfter: STAGE };
    const id = await submit(first, tenant, pushTo(tenant, { options }));
    await until('it pauses', async () => {
      const job = await readNotification(store.sql, tenant.clientId, id, null);
      return job?.state === 'PAUSED' ? true : null;
    });
    const rows = (await readStatus(store.sql, tenant.clientId, id)) ?? [];
    t.equal(
      rows.reduce((sum, { delivered }) => sum + delivered, 0),
      STAGE,
    );
    await Promise.all([first.drain(), second.drain()]);
  });
});
