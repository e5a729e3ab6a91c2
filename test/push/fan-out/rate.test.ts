/**
 * Sends that are held to a rate, as the provider sees them. A machine that is busy makes a send
 * slower, and that is no fault; a rate above the one that was asked for is.
 */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { DEFAULT_PUSH_OPTIONS } from '../../../src/domain/push-options.ts';
import type { Push } from '../../../src/push/accept/push.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import type { TransportLimits } from '../../../src/transport/transport.ts';
import { finalRows, pushTo, seed, submit } from '../../support/fan-out-pushes.ts';
import { makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { withPostgresStore, withStores } from '../../support/store.ts';
import type { Sample } from '../../support/watch-provider.ts';
import { mostIn, rateOf, watchProvider } from '../../support/watch-provider.ts';

/** Some seconds of sending at the rates here. */
const DEVICES = 3_000;

const simulator = await freshSimulator();

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
  const provider = watchProvider(simulator);
  const id = await submit(
    fanOut,
    tenant,
    pushTo(tenant, { options: { ...DEFAULT_PUSH_OPTIONS, ratePerSecond } }),
  );
  const [row] = (await finalRows(store, tenant, id)).filter(({ total }) => total > 0);
  await provider.stop();
  t.match(row, { delivered: count, state: 'FINISHED' });
  const rate = rateOf(...middleOf(provider.samples, count));
  t.comment(`${Math.round(rate)} a second, at most ${mostIn(provider.samples, 200)} in 200 ms`);
  t.ok(rate <= ratePerSecond * 1.05, `${rate} a second`);
  // A busy machine loses the sends that it does not begin in time.
  t.ok(rate >= ratePerSecond * 0.4, `${rate} a second`);
  const most = mostIn(provider.samples, 200);
  t.ok(most <= ratePerSecond * 0.2 * 2.5, `${most} within a fifth of a second`);
  await Promise.all(fanOuts.map((one) => one.drain()));
}

/** One send at a time. */
const ONE_BY_ONE = { streamsMax: 1, connectionsMax: 1 };

/** The counts that the status of a push to 60 devices has shown until it has ended. */
async function seenOnTheWay(
  t: Test,
  store: Store,
  slug: string,
  behaviour: Parameters<typeof behave>[1],
  push: Partial<Push>,
  limits: Partial<TransportLimits> = {},
): Promise<ReadonlySet<number>> {
  await behave(simulator, behaviour);
  const fanOut = await fanOutFor(t, store, simulator, { limits });
  const tenant = await makeTenant(store.sql, slug);
  await seed(store, tenant, { 3: 60 });
  const id = await submit(fanOut, tenant, pushTo(tenant, push));
  const seen = new Set<number>();
  let last = 0;
  await until('it has ended', async () => {
    const rows = (await readStatus(store.sql, tenant.clientId, id)) ?? [];
    const delivered = rows.reduce((sum, row) => sum + row.delivered, 0);
    t.ok(delivered >= last && delivered <= 60, 'it never goes back');
    last = delivered;
    seen.add(delivered);
    return rows[0]?.state === 'FINISHED' ? true : null;
  });
  const [row] = (await finalRows(store, tenant, id)).filter(({ total }) => total > 0);
  t.match(row, { delivered: 60 });
  await fanOut.drain();
  return seen;
}

await withStores(t, async (t, store) => {
  await t.test('a rate is held, evenly', (t) => holdsRate(t, store, 1, 1_000, DEVICES));

  await t.test('its progress is seen long before a block of devices is done', async (t) => {
    const options = { ...DEFAULT_PUSH_OPTIONS, ratePerSecond: 15 };
    const seen = await seenOnTheWay(t, store, 'slow', { latencyMs: 20 }, { options });
    t.ok(seen.size > 4, `seen on the way: ${[...seen]}`);
  });

  await t.test('so is that of a slow provider, without a rate', async (t) => {
    const seen = await seenOnTheWay(t, store, 'without', { latencyMs: 200 }, {}, ONE_BY_ONE);
    t.ok(seen.size > 2, `seen on the way: ${[...seen]}`);
  });
});

await withPostgresStore(t, async (t, store) => {
  await t.test('two nodes together hold it', (t) => holdsRate(t, store, 2, 1_000, DEVICES));
});
