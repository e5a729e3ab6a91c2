/** Orders to sends that wait: for their time, or for their provider. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { accepted, deliveries } from '../../support/client.ts';
import { ended, job, order, setUp, WATCHED_MS } from '../../support/job-orders.ts';
import { until } from '../../support/poll.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

t.setTimeout(580_000);

const simulator = await freshSimulator();
const sent = () => accepted(simulator.controlUrl, 'apns');

await withStores(t, async (t, store) => {
  await t.test('many small ones: paused, none goes; resumed and cancelled, each as told', (t) =>
    small(t, store),
  );

  await t.test('what waits for its provider is counted at once when it is cancelled', async (t) => {
    await behave(simulator, { shares: { serverError: 1 } });
    const { fanOut, api } = await setUp(t, store, simulator, { slug: 'waits', devices: 1_000 });
    const id = await api.push();
    await until('it waits', async () => {
      const { platforms } = await job(api, id);
      return platforms.some((row: object) => 'waitingFor' in row) ? true : null;
    });
    await order(t, api, id, 'cancel');
    t.match(await ended(api, id), { state: 'CANCELLED', totalCount: 1_000, cancelledCount: 1_000 });
    await behave(simulator, { shares: { serverError: 0 } });
    await fanOut.drain();
  });
});

async function small(t: Test, store: Store): Promise<void> {
  await behave(simulator, {});
  const { fanOut, api } = await setUp(t, store, simulator, { slug: 'small', devices: 1 });
  // Far away until all are paused.
  const ids: string[] = [];
  for (let i = 0; i < 40; i += 1) ids.push(await api.push({ sendAt: Date.now() + 3_600_000 }));
  for (const id of ids) await order(t, api, id, 'pause');
  let sendAt = 0;
  for (const id of ids) {
    sendAt = Date.now() + 100;
    t.equal((await api.call('PATCH', `/${id}`, { sendAt })).status, 200, 'due soon');
  }
  await until('their time has come', () => (Date.now() > sendAt + WATCHED_MS ? true : null));
  t.equal(await sent(), 0);
  const [resumed, cancelled] = [ids.slice(0, 20), ids.slice(20)];
  for (const id of resumed) await order(t, api, id, 'resume');
  for (const id of cancelled) await order(t, api, id, 'cancel');
  for (const id of resumed) t.match(await ended(api, id), { state: 'FINISHED', successCount: 1 });
  for (const id of cancelled) t.match(await ended(api, id), { state: 'CANCELLED', totalCount: 0 });
  t.same((await deliveries(simulator.controlUrl, 'apns')).times, { 20: 1 });
  await fanOut.drain();
}
