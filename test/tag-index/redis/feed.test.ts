import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import t from 'tap';
import type { SqlPool } from '../../../src/database/sql.ts';
import { eraseDevices } from '../../../src/devices/erase-devices.ts';
import type { DeviceGroupChange } from '../../../src/domain/device-group-change.ts';
import { changesOf } from '../../../src/domain/device-group-change.ts';
import { readLineage } from '../../../src/tag-index/groups/lineage.ts';
import { raiseDeviceGroups } from '../../../src/tag-index/groups/raise-device-groups.ts';
import { RedisFeed } from '../../../src/tag-index/redis/feed.ts';
import { until } from '../../support/poll.ts';
import type { NodeIndex } from '../../support/redis-index.ts';
import { indexDifferences, openNodeIndex, staleGroups } from '../../support/redis-index.ts';
import type { RedisServer } from '../../support/redis-server.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';
import { seedDevices } from '../../support/seed.ts';
import { withPostgresStore } from '../../support/store.ts';
import { makeTenant } from '../../support/tenant.ts';

const PLATFORM = 15;
const DEVICES = 300;

interface Bench {
  readonly sql: SqlPool;
  readonly redis: RedisServer;
  /** Two nodes of the engine. */
  readonly one: NodeIndex;
  readonly other: NodeIndex;
  readonly appId: number;
  readonly tagId: number;
  readonly hashKey: string;
}

const TESTS: Readonly<Record<string, (t: Test, bench: Bench) => Promise<void>>> = {
  'a change that comes before its predecessor waits for it': async (t, bench) => {
    const [one, other] = [patient(t, bench.one), patient(t, bench.other)];
    const [first, second, third] = [
      await erase(bench, 1),
      await erase(bench, 2),
      await erase(bench, 3),
    ];
    const late = [other.apply(third), one.apply(second)];
    await sleep(20);
    t.equal(await bench.redis.client.hget(bench.hashKey, 'v'), '1', 'nothing is applied yet');
    await Promise.all([...late, other.apply(first)]);
    await isWhole(t, bench);
  },

  'one whose predecessor never comes is repaired': async (t, bench) => {
    const missedBefore = bench.one.missed();
    await erase(bench, 1);
    await bench.one.feed.apply(await erase(bench, 2));
    t.equal(bench.one.missed(), missedBefore + 1);
    await until('it is repaired', async () =>
      (await bench.redis.client.hget(bench.hashKey, 'v')) === '3' ? true : null,
    );
    await isWhole(t, bench);
  },

  'the same change again, and one that was overtaken, change nothing': async (t, bench) => {
    const first = await erase(bench, 1);
    await bench.one.feed.apply(first);
    await bench.other.feed.apply(await erase(bench, 2));
    await bench.one.feed.apply(first);
    t.equal(await bench.redis.client.hget(bench.hashKey, 'v'), '3');
    await isWhole(t, bench);
  },

  'what stops in the middle proves nothing': async (t, bench) => {
    const { one, redis, hashKey } = bench;
    const change = await erase(bench, 200);
    // The script has changed the tags when it comes to the block, which is no string any more.
    await redis.client.del(`${hashKey}:1`);
    await redis.client.rpush(`${hashKey}:1`, 'not a block');
    await one.feed.apply(change);
    t.not(await redis.client.hget(hashKey, 'v'), '1', 'it is not what it was');
    await until('the breaker is closed again', async () => {
      await one.breaker.run(() => one.client.ping());
      return one.breaker.isOpen ? null : true;
    });
    await untilRepaired(bench);
    await isWhole(t, bench);
  },

  'Redis that is full refuses a change whole, and is read on': async (t, bench) => {
    const { one, redis, hashKey, appId, tagId } = bench;
    await redis.client.config('SET', 'maxmemory', '1');
    await one.feed.apply(await erase(bench, 1));
    t.equal(await redis.client.hget(hashKey, 'v'), '1', 'it is what it was');
    t.notOk(one.breaker.isOpen);
    const run = await one.index.resolve({
      group: { appId, platformId: PLATFORM, groupNumber: 0 },
      audience: { anyTagIds: [tagId], allTagIds: [], noneTagIds: [] },
      ordinalEnd: DEVICES,
      expectedVersion: 1,
    });
    t.equal(run.deviceIds.length, DEVICES, 'who does not need the change is answered');
    await redis.client.config('SET', 'maxmemory', '0');
    await untilRepaired(bench);
    await isWhole(t, bench);
  },

  'a database that went back without a trace is noticed by the first change': async (t, bench) => {
    const { sql, one } = bench;
    const { name } = await readLineage(sql);
    for (const ordinal of [1, 2, 3]) await one.feed.apply(await erase(bench, ordinal));
    await sql`update device_groups set version = version - 3`;
    await one.feed.apply(await erase(bench, 4));
    t.not((await readLineage(sql)).name, name);
    t.equal(one.name.current, (await readLineage(sql)).name, 'whoever is answered goes by it');
    await bench.other.name.reread();
    await untilRepaired(bench);
    await isWhole(t, bench);
  },

  'a change that is executed late, after its time was up, is right': async (t, bench) => {
    const { one, redis } = bench;
    redis.signal('SIGSTOP');
    await one.feed.apply(await erase(bench, 1));
    t.ok(one.breaker.isOpen, 'nobody waits for it any more');
    redis.signal('SIGCONT');
    const [later] = await erase(bench, 2);
    if (later === undefined) throw new Error('nothing was changed');
    await until('Redis is asked again', async () => {
      await one.feed.apply([later]);
      return one.breaker.isOpen ? null : true;
    });
    await untilRepaired(bench);
    await isWhole(t, bench);
  },
};

/** A feed whose clock stands: it waits as long as it takes. */
const patient = (t: Test, { client, name, breaker }: NodeIndex): RedisFeed =>
  new RedisFeed({
    client,
    name,
    breaker,
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    onMissed: (groups) => t.fail('a change was missed', { groups }),
    onAhead: (_, seen) => Promise.reject(new Error(`Redis has ${seen.length} more`)),
  });

/** Commits, and answers what an index has to hear. */
async function erase(
  { sql, appId }: Bench,
  ordinal: number,
): Promise<readonly DeviceGroupChange[]> {
  const place = { appId, platformId: PLATFORM, ordinal, registeredBeforeMs: null };
  return (await eraseDevices(sql, [place])).changes;
}

async function untilRepaired({ sql, one }: Bench): Promise<void> {
  await until('the index is repaired', async () => {
    const stale = await staleGroups(sql, one.client, one.name.current);
    one.repairs.ask(stale);
    return stale.length === 0 ? true : null;
  });
}

async function isWhole(t: Test, { sql, one, appId }: Bench): Promise<void> {
  t.strictSame(await indexDifferences(sql, one.client, one.name.current), []);
  // And goes on.
  const group = { appId, platformId: PLATFORM, groupNumber: 0 };
  await one.feed.apply(changesOf(await raiseDeviceGroups(sql, [group]), {}));
  t.strictSame(await staleGroups(sql, one.client, one.name.current), []);
}

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, { sql }) => {
    const redis = await startRedis(t);
    const address = { kind: 'single' as const, url: redis.url };
    const one = await openNodeIndex(t, sql, address);
    const other = await openNodeIndex(t, sql, address);
    for (const [name, body] of Object.entries(TESTS)) {
      await t.test(name, async (t) => {
        const { appId, makeTag } = await makeTenant(
          sql,
          `feed-${Object.keys(TESTS).indexOf(name)}`,
        );
        await sql`truncate devices, device_group_tags, device_groups`;
        await redis.client.flushall();
        const tagId = await makeTag();
        await seedDevices(sql, { appId, platformId: PLATFORM, tagIds: [tagId], count: DEVICES });
        const hashKey = `tagcast:${one.name.current}:{${appId}.${PLATFORM}.0}`;
        const bench = { sql, redis, one, other, appId, tagId, hashKey };
        await untilRepaired(bench);
        await body(t, bench);
      });
    }
  }),
);
