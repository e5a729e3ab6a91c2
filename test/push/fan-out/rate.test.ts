/**
 * Sends that are held to a rate, as the provider sees them. A machine that is busy makes a send
 * slower, and that is no fault; a rate above the one that was asked for is.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import { changeState } from '../../../src/store/ledger/change-state.ts';
import { changeNotification } from '../../../src/store/notifications/change-notification.ts';
import { readStatus } from '../../../src/store/notifications/read-status.ts';
import type { Store } from '../../../src/store/store.ts';
import { finalRows, pushTo, seed, submit } from '../../support/fan-out-pushes.ts';
import { makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { behave, fanOutFor, simulatorFor } from '../../support/sending.ts';
import { withPostgresStore, withStores } from '../../support/store.ts';

const simulator = await simulatorFor(t);

/** What the provider had accepted at a time. */
interface Sample {
  readonly atMs: number;
  readonly accepted: number;
}

/** Notes what the provider has accepted, again and again. */
function watchProvider() {
  const samples: Sample[] = [];
  let isWatching = true;
  const watching = (async () => {
    while (isWatching) {
      const { apns } = (await (await fetch(`${simulator.controlUrl}/state`)).json()) as {
        readonly apns: { readonly accepted: number };
      };
      samples.push({ atMs: performance.now(), accepted: apns.accepted });
      await sleep(10);
    }
  })();
  return {
    samples,
    accepted: () => samples.at(-1)?.accepted ?? 0,
    stop() {
      isWatching = false;
      return watching;
    },
  };
}

const rateOf = (from: Sample, to: Sample): number =>
  ((to.accepted - from.accepted) * 1_000) / (to.atMs - from.atMs);

/** The most that were accepted within so long. */
function mostIn(samples: readonly Sample[], lengthMs: number): number {
  const within = (from: Sample): number =>
    (samples.findLast(({ atMs }) => atMs - from.atMs <= lengthMs) ?? from).accepted - from.accepted;
  return Math.max(...samples.map(within));
}

/** From when a tenth of them was accepted until nine tenths were. */
function middleOf(samples: readonly Sample[], all: number): readonly [Sample, Sample] {
  const from = samples.find(({ accepted }) => accepted >= all * 0.1);
  const to = samples.find(({ accepted }) => accepted >= all * 0.9);
  if (from === undefined || to === undefined) throw new Error('not seen');
  return [from, to];
}

async function holdsRate(
  t: Test,
  store: Store,
  nodes: number,
  ratePerSecond: number,
  count: number,
) {
  await behave(simulator, { latencyMs: 20 });
  const fanOuts = await Promise.all(
    Array.from({ length: nodes }, () => fanOutFor(t, store, simulator)),
  );
  const [fanOut] = fanOuts;
  if (fanOut === undefined) throw new Error('no node');
  const tenant = await makeTenant(store.sql, `rate-${nodes}-${ratePerSecond}`);
  await seed(store, tenant, { 3: count });
  const provider = watchProvider();
  const id = await submit(fanOut, tenant, pushTo(tenant, { ratePerSecond }));
  const [row] = (await finalRows(store, tenant, id)).filter(({ total }) => total > 0);
  await provider.stop();
  t.match(row, { delivered: count, state: 'FINISHED' });
  const rate = rateOf(...middleOf(provider.samples, count));
  t.comment(`${Math.round(rate)} a second, at most ${mostIn(provider.samples, 200)} in 200 ms`);
  t.ok(rate <= ratePerSecond * 1.05, `${rate} a second`);
  t.ok(rate >= ratePerSecond * 0.6, `${rate} a second`);
  const most = mostIn(provider.samples, 200);
  t.ok(most <= ratePerSecond * 0.2 * 2.5, `${most} within a fifth of a second`);
  await Promise.all(fanOuts.map((one) => one.drain()));
}

await withStores(t, async (t, store) => {
  await t.test('a rate is held, evenly', (t) => holdsRate(t, store, 1, 2_000, 6_000));

  await t.test('its progress is seen long before a block of devices is done', async (t) => {
    await behave(simulator, { latencyMs: 20 });
    const fanOut = await fanOutFor(t, store, simulator);
    const tenant = await makeTenant(store.sql, 'slow');
    await seed(store, tenant, { 3: 100 });
    const id = await submit(fanOut, tenant, pushTo(tenant, { ratePerSecond: 10 }));
    const seen = new Set<number>();
    await until('it has ended', async () => {
      const rows = (await readStatus(store.sql, tenant.clientId, id)) ?? [];
      for (const { delivered } of rows) seen.add(delivered);
      return rows[0]?.state === 'FINISHED' ? true : null;
    });
    const [row] = (await finalRows(store, tenant, id)).filter(({ total }) => total > 0);
    t.match(row, { delivered: 100 });
    t.ok(seen.size > 4, `seen on the way: ${[...seen]}`);
    t.ok([...seen].every((count) => count <= 100));
    await fanOut.drain();
  });

  await t.test('it is changed, taken away and given back while the send runs', async (t) => {
    // Slow enough that it is not through before it gets a rate again.
    await behave(simulator, { latencyMs: 20, maxConcurrentStreams: 4 });
    const fanOut = await fanOutFor(t, store, simulator);
    const tenant = await makeTenant(store.sql, 'changed');
    await seed(store, tenant, { 3: 16_000 });
    const provider = watchProvider();
    const id = await submit(fanOut, tenant, pushTo(tenant, { ratePerSecond: 200 }));
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
    const slow = await during(1_500);
    t.ok(slow <= 200 * 1.1 && slow > 0, `${slow} of 200 a second`);
    await change(1_000);
    await sleep(1_000);
    const fast = await during(1_500);
    t.ok(fast <= 1_000 * 1.1 && fast > slow * 1.5, `${fast} of 1000 a second`);
    const before = provider.accepted();
    await change(null);
    await until('it is held to none', () => (provider.accepted() > before + 3_000 ? true : null));
    await change(100);
    await sleep(1_000);
    const again = await during(1_500);
    t.ok(again <= 100 * 1.2 && again > 0, `${again} of 100 a second`);
    await change(null);
    const [row] = (await finalRows(store, tenant, id)).filter(({ total }) => total > 0);
    await provider.stop();
    t.match(row, { delivered: 16_000 });
    const state = await (await fetch(`${simulator.controlUrl}/state`)).json();
    t.match(state, { apns: { accepted: 16_000, duplicates: 0 } }, 'each device once');
    await fanOut.drain();
  });

  await t.test('paused and resumed: no burst makes up for the pause', async (t) => {
    await behave(simulator, { latencyMs: 20 });
    const fanOut = await fanOutFor(t, store, simulator);
    const tenant = await makeTenant(store.sql, 'paused');
    await seed(store, tenant, { 3: 3_000 });
    const provider = watchProvider();
    const id = await submit(fanOut, tenant, pushTo(tenant, { ratePerSecond: 500 }));
    const order = (what: 'pause' | 'resume') =>
      changeState(store.sql, tenant.clientId, id, null, what);
    await until('it is under way', () => (provider.accepted() > 500 ? true : null));
    await order('pause');
    await sleep(2_000);
    const paused = provider.accepted();
    const resumedAt = provider.samples.length;
    await order('resume');
    const [row] = (await finalRows(store, tenant, id)).filter(({ total }) => total > 0);
    await provider.stop();
    t.match(row, { delivered: 3_000 });
    const after = provider.samples.slice(resumedAt);
    t.ok(paused < 2_000, `${paused} before`);
    t.ok(mostIn(after, 1_000) <= 500 * 1.3, `${mostIn(after, 1_000)} within a second`);
    await fanOut.drain();
  });
});

await withPostgresStore(t, async (t, store) => {
  await t.test('two nodes together hold it', (t) => holdsRate(t, store, 2, 2_000, 10_000));
});
