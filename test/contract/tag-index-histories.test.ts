/**
 * Every tag index against a plain model, over random histories as the service makes them:
 * registrations through two nodes' lanes, erase reasons of providers, deleted, disconnected and
 * expired tags, housekeeping, devices that move. (test/contract/tag-index.ts holds each index alone
 * to its questions.)
 */

import * as fc from 'fast-check';
import t from 'tap';
import { GROUP_DEVICES } from '../../src/domain/device.ts';
import type { RedisAddress } from '../../src/tag-index/redis/connect.ts';
import { indexDifferences, staleGroups } from '../support/redis-index.ts';
import { startRedis, startRedisCluster, withRedis } from '../support/redis-server.ts';
import { withPostgresStore } from '../support/store.ts';
import type { Step, Wish } from './tag-index-world.ts';
import { CROWD, DEVICES, openNode, TAGS, World } from './tag-index-world.ts';

const RUNS = 15;

const tag = fc.nat(TAGS - 1);
const tags = fc.uniqueArray(tag, { maxLength: TAGS });
const device = fc.nat(DEVICES - 1);
const devices = fc.uniqueArray(device, { minLength: 1, maxLength: DEVICES });
const wish: fc.Arbitrary<Wish> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('reg' as const), device, tags }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('set' as const), device, tags }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('ureg' as const),
      device,
      tags: fc.option(tags, { freq: 3 }),
    }),
  },
);
const burst = fc.record({
  kind: fc.constant('burst' as const),
  wishes: fc.array(wish, { minLength: 1, maxLength: 10 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: burst },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('crowd' as const),
      tag,
      from: fc.nat(CROWD),
      isComing: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('age' as const), devices }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('erase' as const), devices, oldOnly: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('erase-reasons' as const),
      devices,
      isRefusal: fc.constantFrom(true, true, true, false),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('delivered' as const),
      devices,
      environment: fc.constantFrom(null, 'production', 'sandbox'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('delete', 'disconnect', 'connect', 'expire', 'revive'),
      tag,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('replace' as const), device, by: device }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('housekeeping' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('compaction' as const),
      wishes: fc.array(wish, { maxLength: 10 }),
    }),
  },
);
const audience = fc.record({
  any: tags,
  all: fc.uniqueArray(tag, { maxLength: 2 }),
  none: fc.uniqueArray(tag, { maxLength: 2 }),
});

t.setTimeout(180_000);

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, store) => {
    const single = await startRedis(t);
    const { urls } = await startRedisCluster(t);
    const addresses: readonly RedisAddress[] = [
      { kind: 'single', url: single.url },
      { kind: 'cluster', urls },
    ];
    const nodes = await Promise.all([0, 1].map(() => openNode(t, store, addresses)));
    await t.test('all indexes answer as a plain model does', async (t) => {
      let history = 0;
      const property = fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 40 }),
        fc.array(audience, { minLength: 1, maxLength: 5 }),
        fc.nat(2 * GROUP_DEVICES),
        async (steps, audiences, ordinalEnd) => {
          history += 1;
          const world = await World.make(store, nodes, `world-${process.pid}-${history}`);
          for (const one of steps) await world.play(one);
          await world.untilIndexed();
          for (const { any, all, none } of audiences) {
            await world.compare(any, all, none, ordinalEnd);
          }
        },
      );
      await fc.assert(property, { numRuns: RUNS, endOnFailure: false });
      t.pass(`${RUNS} histories`);
    });
    await t.test('nothing else lies in Redis, and nothing is missing', async (t) => {
      for (const { client, name } of nodes[0]?.indexes ?? []) {
        t.strictSame(await staleGroups(store.sql, client, name.current), []);
        t.strictSame(await indexDifferences(store.sql, client, name.current), []);
      }
      const missed = nodes.flatMap(({ indexes }) => indexes.map((index) => index.missed()));
      t.comment(`changes that came too early for too long: ${missed.join(', ')}`);
    });
  }),
);
