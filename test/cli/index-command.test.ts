/** The command as an operator uses it, beside real servers: each verb as a process first. */

import type { Test } from 'tap';
import t from 'tap';
import { openPostgres } from '../../src/database/store.ts';
import { PREFIX } from '../../src/tag-index/redis/keys.ts';
import { makeTenant } from '../support/notifications.ts';
import { runCommand } from '../support/processes.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { startRedis, startRedisCluster, withRedis } from '../support/redis-server.ts';
import { runHere } from '../support/run-here.ts';
import { seedDevices } from '../support/seed.ts';
import { withPostgres } from '../support/store.ts';

const DEVICES = 20_000;

await withRedis(t, (t) =>
  withPostgres(t, async (t, url) => {
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    const tenant = await makeTenant(store.sql, 'index');
    await seedDevices(store.sql, {
      appId: tenant.appId,
      platformId: 3,
      tagIds: [tenant.tagId],
      count: DEVICES,
    });

    await t.test('one server', async (t) => {
      const server = await startRedis(t);
      await story(t, { DATABASE_URL: url, REDIS_URL: server.url }, [server], tenant.tagId);
    });
    await t.test('a cluster', async (t) => {
      const { urls, masters } = await startRedisCluster(t);
      const environment = { DATABASE_URL: url, REDIS_CLUSTER: urls.join(',') };
      await story(t, environment, masters, tenant.tagId);
    });
  }),
);

async function story(
  t: Test,
  environment: Readonly<Record<string, string>>,
  servers: readonly RedisServer[],
  tagId: number,
): Promise<void> {
  const settings = { SECRET_KEY: 'x'.repeat(32), ...environment };
  const index = (...args: readonly string[]) => runHere(['index', ...args], settings);
  const indexProcess = (...args: readonly string[]) => runCommand(t, ['index', ...args], settings);

  const empty = await indexProcess('verify');
  t.equal(empty.code, 1);
  t.match(empty.output, /3 groups with 20,000 devices: 3 stale, 0 different/);

  // In a cluster one of them has its slot.
  await Promise.allSettled(servers.map((server) => server.client.set(`${PREFIX}other:v`, '1')));
  const rebuilt = await indexProcess('rebuild', '--drop-others');
  t.equal(rebuilt.code, 0, rebuilt.output);
  t.match(rebuilt.output, /Rebuilt: 3 groups with 20,000 devices/);
  t.match(rebuilt.output, /Deleted: 1 key of other indexes/);
  const whole = await index('verify');
  t.equal(whole.code, 0, whole.output);

  const [key, server] = await anyHash(servers);
  await server.client.hset(key, String(tagId), Buffer.from([0, 1, 0, 2]));
  const [block = ''] = await server.client.keys(`${key}:*`);
  await server.client.del(block);
  const damaged = await index('verify');
  t.equal(damaged.code, 1);
  t.match(damaged.output, /\d+ subscriptions of tag \d+ are missing \(offsets 0, 3/);
  t.match(damaged.output, /128 tokens are missing/);
  t.match(damaged.output, /0 stale, 1 different/);
  const told = await index('verify', '--json');
  t.equal(told.code, 1);
  const { differences, ...counts } = JSON.parse(told.output);
  t.same(counts, { groups: 3, devices: DEVICES, stale: 0, wrong: 1 });
  const sentences: string = differences.toSorted().join('\n');
  t.match(sentences, /128 tokens are missing[\s\S]*subscriptions of tag \d+ are missing/);
  const rebuilding = await index('rebuild', '--json', '--drop-others');
  t.equal(rebuilding.code, 0);
  t.same(JSON.parse(rebuilding.output), { groups: 3, devices: DEVICES, dropped: 0 });
  t.equal((await index('verify')).code, 0, 'repaired');
}

/** A group's hash, and where it lies. Full groups only: the last one has fewer blocks. */
async function anyHash(servers: readonly RedisServer[]): Promise<readonly [string, RedisServer]> {
  for (const server of servers) {
    const keys = await server.client.keys(`${PREFIX}*.0}`);
    if (keys[0] !== undefined) return [keys[0], server];
  }
  throw new Error('there is no group');
}

t.test('what is missing is said', async (t) => {
  const bare = await runCommand(t, ['index', 'verify']);
  t.equal(bare.code, 2);
  t.match(bare.output, /set DATABASE_URL/);
  const unreachable = await runHere(['index', 'verify'], {
    SECRET_KEY: 'x'.repeat(32),
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    REDIS_URL: 'redis://127.0.0.1:1',
  });
  t.equal(unreachable.code, 2);
  t.match(unreachable.output, /Redis cannot be reached/);
  t.equal((await runHere(['index', 'burn'])).code, 2);
  t.match((await runHere(['index', '--help'])).output, /tagcast index verify/);
});
