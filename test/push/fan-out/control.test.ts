/**
 * Orders to sends that run, with real threads and a simulator: none is missed, none has it twice.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { accepted, deliveries } from '../../support/client.ts';
import {
  atRest,
  ended,
  job,
  LIMIT_MS,
  order,
  setUp,
  WATCHED_MS,
} from '../../support/job-orders.ts';
import { until } from '../../support/poll.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

/** More than a thread may have under way (16,384): an order comes in the middle. */
const DEVICES = 30_000;
const BEFORE_THE_ORDER = 2_000;
/** 12,800 a second at most: however slow this test is, the order comes before the end. */
const SLOWLY = { latencyMs: 200, maxConcurrentStreams: 40 };

t.setTimeout(580_000);

const simulator = await freshSimulator();
const sent = () => accepted(simulator.controlUrl, 'apns');

const begun = (count: number) =>
  until(`${count} are sent`, async () => ((await sent()) >= count ? true : null), LIMIT_MS);

await withStores(t, async (t, store) => {
  const { api } = await setUp(t, store, simulator, { slug: 'ordered', devices: DEVICES });

  await t.test('paused in the middle of a large audience, and resumed', async (t) => {
    await behave(simulator, SLOWLY);
    const id = await api.push();
    await begun(BEFORE_THE_ORDER);
    await order(t, api, id, 'pause');
    await atRest(store, id);
    const before = await sent();
    t.ok(before < DEVICES, `${before} of ${DEVICES} were sent`);
    const paused = await job(api, id);
    t.match(paused, { state: 'PAUSED', successCount: before });
    await sleep(WATCHED_MS);
    t.equal(await sent(), before, 'nothing is sent while it is paused');
    t.match(await job(api, id), { state: 'PAUSED', successCount: before });
    await order(t, api, id, 'resume');
    t.match(await ended(api, id), {
      state: 'FINISHED',
      totalCount: DEVICES,
      successCount: DEVICES,
    });
    const { times } = await deliveries(simulator.controlUrl, 'apns');
    t.same(times, { 1: DEVICES }, 'each has it once');
  });

  await t.test('cancelled in the middle: the rest is counted, and not sent', async (t) => {
    await behave(simulator, SLOWLY);
    const id = await api.push();
    await begun(BEFORE_THE_ORDER);
    await order(t, api, id, 'cancel');
    await order(t, api, id, 'cancel');
    const body = await ended(api, id);
    const delivered = await sent();
    t.match(body, { state: 'CANCELLED', totalCount: DEVICES, successCount: delivered });
    t.equal(body.cancelledCount, DEVICES - delivered);
    t.ok(delivered < DEVICES, `${delivered} were sent`);
    t.same((await deliveries(simulator.controlUrl, 'apns')).times, { 1: delivered });
  });
});
