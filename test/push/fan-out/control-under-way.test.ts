/** Orders to sends whose provider has not answered yet: what is under way obeys them. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { atRest, ended, job, OBEYED_WITHIN_MS, order, setUp } from '../../support/job-orders.ts';
import { until } from '../../support/poll.ts';
import type { ReceivedRequest } from '../../support/provider-peer.ts';
import { answer, startProviderPeer } from '../../support/provider-peer.ts';
import { freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

/** More than the connections of a thread may hold, of ten requests each. */
const HELD_UP = 3_000;

t.setTimeout(580_000);

const simulator = await freshSimulator();

await withStores(t, async (t, store) => {
  await t.test('a provider that says nothing: paused all the same, before it answers', (t) =>
    unanswered(t, store),
  );

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
  const audience = { slug, devices: HELD_UP };
  const { fanOut, api } = await setUp(t, store, simulator, audience, { origins });
  const id = await api.push({ ...more });
  await until('it is under way', () => (held.length > 0 ? true : null));
  const release = (): void => {
    isHolding = false;
    for (const request of held.splice(0)) answer(request, 200);
  };
  return { fanOut, api, id, received: peer.received, release };
}

/** The worker gets no reply with the order: none of it ends before the answers come. */
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
