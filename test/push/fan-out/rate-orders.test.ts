/** Orders to sends that are held to a rate: another one, none, a pause. See rate.test.ts. */

import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { DEFAULT_PUSH_OPTIONS } from '../../../src/domain/push-options.ts';
import { changeState } from '../../../src/push/sql/ledger/change-state.ts';
import { changeNotification } from '../../../src/push/sql/notifications/change-notification.ts';
import { finalRows, pushTo, seed, submit } from '../../support/fan-out-pushes.ts';
import { makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';
import { mostIn, rateOf, watchProvider } from '../../support/watch-provider.ts';

/** So many that it is not through before it gets a rate again. */
const DEVICES = 15_000;
const PAUSED_DEVICES = 2_000;
/**
 * On a busy machine the simulator rests for moments, and sees late sends beside those of the second
 * that is looked at.
 */
const SEEN_MAX = 1.3;

const simulator = await freshSimulator();

await withStores(t, async (t, store) => {
  const fanOut = await fanOutFor(t, store, simulator);

  await t.test('it is changed, taken away and given back while the send runs', async (t) => {
    // Slow enough that it is not through before it gets a rate again: 3,200 a second at most.
    await behave(simulator, { latencyMs: 200, maxConcurrentStreams: 10 });
    const tenant = await makeTenant(store.sql, 'changed');
    await seed(store, tenant, { 3: DEVICES });
    const provider = watchProvider(simulator);
    const id = await submit(
      fanOut,
      tenant,
      pushTo(tenant, { options: { ...DEFAULT_PUSH_OPTIONS, ratePerSecond: 200 } }),
    );
    const change = async (ratePerSecond: number | null): Promise<void> => {
      await changeNotification(store.sql, tenant.clientId, id, null, { ratePerSecond });
    };
    const during = async (ms: number): Promise<number> => {
      const from = provider.samples.at(-1);
      await sleep(ms);
      const to = provider.samples.at(-1);
      if (from === undefined || to === undefined) throw new Error('nothing was seen');
      return rateOf(from, to);
    };
    await until('it has begun', () => (provider.accepted() > 0 ? true : null));
    const slow = await during(2_000);
    t.ok(slow <= 200 * SEEN_MAX && slow > 0, `${slow} of 200 a second`);
    await change(1_000);
    // How soon is the machine's: others may be at work on it.
    const fast = await until('it is faster', async () => {
      const rate = await during(1_000);
      return rate > slow * 1.5 ? rate : null;
    });
    t.ok(fast <= 1_000 * SEEN_MAX, `${fast} of 1000 a second`);
    const before = provider.accepted();
    await change(null);
    await until('it is held to none', () => (provider.accepted() > before + 2_000 ? true : null));
    await change(100);
    const again = await until('it is slower', async () => {
      const rate = await during(1_000);
      return rate <= 100 * SEEN_MAX ? rate : null;
    });
    t.ok(again > 0, `${again} of 100 a second`);
    await change(null);
    const [row] = (await finalRows(store, tenant, id)).filter(({ total }) => total > 0);
    await provider.stop();
    t.match(row, { delivered: DEVICES });
    const state = await (await fetch(`${simulator.controlUrl}/state`)).json();
    t.match(state, { apns: { accepted: DEVICES, duplicates: 0 } }, 'each device once');
  });

  await t.test('paused and resumed: no burst makes up for the pause', async (t) => {
    await behave(simulator, { latencyMs: 20 });
    const tenant = await makeTenant(store.sql, 'paused');
    await seed(store, tenant, { 3: PAUSED_DEVICES });
    const provider = watchProvider(simulator);
    const id = await submit(
      fanOut,
      tenant,
      pushTo(tenant, { options: { ...DEFAULT_PUSH_OPTIONS, ratePerSecond: 500 } }),
    );
    const order = (what: 'pause' | 'resume') =>
      changeState(store.sql, tenant.clientId, id, null, what);
    await until('it is under way', () => (provider.accepted() > 300 ? true : null));
    await order('pause');
    await sleep(1_000);
    const paused = provider.accepted();
    const resumedAt = provider.samples.length;
    await order('resume');
    const [row] = (await finalRows(store, tenant, id)).filter(({ total }) => total > 0);
    await provider.stop();
    t.match(row, { delivered: PAUSED_DEVICES });
    const after = provider.samples.slice(resumedAt);
    t.ok(paused < 1_500, `${paused} before`);
    t.ok(mostIn(after, 1_000) <= 500 * SEEN_MAX, `${mostIn(after, 1_000)} within a second`);
  });
});
