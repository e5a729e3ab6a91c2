/**
 * Orders to sends that run, with real threads and a simulator: none is missed, none has it twice.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import type { FanOut } from '../../../src/push/fan-out.ts';
import type { Store } from '../../../src/store/store.ts';
import { accepted, deliveries } from '../../support/client.ts';
import type { JobsApi } from '../../support/jobs-api.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { until } from '../../support/poll.ts';
import type { ReceivedRequest } from '../../support/provider-peer.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';
import { seedDevices } from '../../support/seed.ts';
import type { SendingOptions } from '../../support/sending.ts';
import { behave, fanOutFor, simulatorFor } from '../../support/sending.ts';
import { withStores } from '../../support/store.ts';

/** More than a thread may have under way: an order comes in the middle. */
const DEVICES = 40_000;
const BEFORE_THE_ORDER = 2_000;
/** More than the connections of a thread may hold, of ten requests each. */
const HELD_UP = 3_000;
const LATENCY_MS = 50;
/** Longer than an order takes to be obeyed, and its provider to answer. */
const WATCHED_MS = 1_500;
const OBEYED_WITHIN_MS = 1_000;
const LIMIT_MS = 120_000;

t.setTimeout(580_000);

const simulator = await simulatorFor(t);
const sent = () => accepted(simulator.controlUrl, 'apns');

/** An API over a fan-out, and so many devices. */
async function setUp(
  t: Test,
  store: Store,
  slug: string,
  devices: number,
  options: SendingOptions = {},
): Promise<{ readonly fanOut: FanOut; readonly api: JobsApi }> {
  const fanOut = await fanOutFor(t, store, simulator, options);
  const { accept, testSends } = fanOut;
  const api = await startJobsApi(t, store, slug, { accept, testSends });
  const { appId, tagId } = api.tenant;
  await seedDevices(store.sql, { appId, platformId: 3, tagIds: [tagId], count: devices });
  await store.sql.unsafe('analyze');
  return { fanOut, api };
}

const job = async (api: JobsApi, id: string) => (await api.call('GET', `/${id}`)).body;

const ended = (api: JobsApi, id: string) =>
  until(
    `${id} has ended`,
    async () => {
      const body = await job(api, id);
      return 'finishedAt' in body ? body : null;
    },
    LIMIT_MS,
  );

/** Nothing of it is held by anybody. */
const atRest = (store: Store, id: string) =>
  until('nothing is under way', async () => {
    const [held] = await store.sql<{ count: number }[]>`
      select (select count(*) from chunks where notification_id = ${id}::uuid and lease_until is not null)
        + (select count(*) from retries where notification_id = ${id}::uuid and lease_until is not null) as count`;
    return held?.count === 0 ? true : null;
  });

const begun = (count: number) =>
  until(`${count} are sent`, async () => ((await sent()) >= count ? true : null), LIMIT_MS);

async function order(t: Test, api: JobsApi, id: string, what: string): Promise<void> {
  const { status } = await api.call('POST', `/${id}/${what}`);
  t.equal(status, 200, what);
}

await withStores(t, async (t, store) => {
  await t.test('paused in the middle of a large audience, and resumed', async (t) => {
    await behave(simulator, { latencyMs: LATENCY_MS });
    const { fanOut, api } = await setUp(t, store, 'paused', DEVICES);
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
    await fanOut.drain();
  });

  await t.test('cancelled in the middle: the rest is counted, and not sent', async (t) => {
    await behave(simulator, { latencyMs: LATENCY_MS });
    const { fanOut, api } = await setUp(t, store, 'cancelled', DEVICES);
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
    await fanOut.drain();
  });

  await t.test('a provider that says nothing: paused all the same, before it answers', (t) =>
    unanswered(t, store),
  );

  await t.test('many small ones: paused, none goes; resumed and cancelled, each as told', (t) =>
    small(t, store),
  );

  await t.test('what waits for its provider is counted at once when it is cancelled', async (t) => {
    await behave(simulator, { shares: { serverError: 1 } });
    const { fanOut, api } = await setUp(t, store, 'waits', 1_000);
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

  await t.test('another end is obeyed by what is under way', (t) => anotherEnd(t, store));
});

/** A send that is under way at a provider that says nothing until it is released. */
async function heldUp(t: Test, store: Store, slug: string, more: object = {}) {
  const held: ReceivedRequest[] = [];
  let isHolding = true;
  const peer = await startProviderPeer({
    script: (request) => {
      if (isHolding) held.push(request);
      else answer(request, 200);
    },
    maxConcurrentStreams: 10,
  });
  t.teardown(() => peer.close());
  const ca = `${simulator.certificatePem}\n${peer.ca}`;
  const origins = { apnsProduction: peer.origin, ca };
  const { fanOut, api } = await setUp(t, store, slug, HELD_UP, { origins });
  const id = await api.push({ ...more });
  await until('it is under way', () => (held.length > 0 ? true : null));
  const release = (): void => {
    isHolding = false;
    for (const request of held.splice(0)) answer(request, 200);
  };
  return { fanOut, api, id, received: peer.received, release };
}

/** No report tells the worker of the order: none of it ends before the answers come. */
async function unanswered(t: Test, store: Store): Promise<void> {
  const { fanOut, api, id, received, release } = await heldUp(t, store, 'unanswered');
  await order(t, api, id, 'pause');
  await sleep(OBEYED_WITHIN_MS);
  const count = received.length;
  t.ok(count < HELD_UP, `${count} of ${HELD_UP} were handed over`);
  release();
  await atRest(store, id);
  t.equal(received.length, count, 'none went behind the order');
  t.match(await job(api, id), { state: 'PAUSED', successCount: count });
  await order(t, api, id, 'resume');
  t.match(await ended(api, id), { state: 'FINISHED', successCount: HELD_UP });
  t.equal(received.length, HELD_UP);
  const paths = new Set(received.map(({ headers }) => headers[':path']));
  t.equal(paths.size, HELD_UP, 'each has it once');
  await fanOut.drain();
}

/** The same of an end that is nearer than the one that it was claimed with. */
async function anotherEnd(t: Test, store: Store): Promise<void> {
  const expiresAt = Date.now() + 3_600_000;
  const { fanOut, api, id, received, release } = await heldUp(t, store, 'shorter', { expiresAt });
  const changed = await api.call('PATCH', `/${id}`, { expiresAt: Date.now() + OBEYED_WITHIN_MS });
  t.equal(changed.status, 200);
  await sleep(OBEYED_WITHIN_MS);
  const count = received.length;
  release();
  const body = await ended(api, id);
  t.equal(received.length, count, 'none went behind the end');
  t.match(body, { state: 'FINISHED', successCount: count, expiredCount: HELD_UP - count });
  await fanOut.drain();
}

async function small(t: Test, store: Store): Promise<void> {
  await behave(simulator, {});
  const { fanOut, api } = await setUp(t, store, 'small', 1);
  const sendAt = Date.now() + 6_000;
  const ids: string[] = [];
  for (let i = 0; i < 40; i += 1) ids.push(await api.push({ sendAt }));
  for (const id of ids) await order(t, api, id, 'pause');
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
