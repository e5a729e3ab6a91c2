/** Redis is an accelerator, never the truth: whatever happens to it, nobody is missed, and nobody gets what is not for him. */

import type { Test } from 'tap';
import t from 'tap';
import { readLineage } from '../../src/store/index/lineage.ts';
import type { RedisAddress } from '../../src/tag-index/redis/connect.ts';
import { until } from '../support/poll.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { startRedis, startRedisCluster, withRedis } from '../support/redis-server.ts';
import { withPostgres } from '../support/store.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { Field } from './redis-field.ts';

t.setTimeout(580_000);

/** Devices changed at a time, known and new each. */
const CHANGES = 60;
const TABLES = ['subscriptions', 'devices', 'device_groups'];
/** No version that was counted up from 1 comes near. */
const COUNTED_MAX = 1e9;

async function oneRedis(t: Test, url: string): Promise<void> {
  const redis = await startRedis(t);
  const field = await Field.open(t, url, addressOf(redis));
  const proxy = await startTcpProxy(t, redis.port);
  const victim = await field.start({ REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
  const other = await field.start();

  await t.test('an empty one is filled', async (t) => {
    await field.isMended(t, 'at first');
    await field.change([victim, other], CHANGES);
    await field.isWhole(t, other, 'and fed');
  });

  await t.test('an engine is killed between commit and apply', async (t) => {
    proxy.silenceAll();
    const token = field.freshToken();
    const answer = field.ask(victim, 'reg', token).catch(() => 'none');
    await until('it is committed', async () => {
      const rows = await field.sql`select from devices where device_id = ${token}`;
      return rows.length > 0 ? true : null;
    });
    await victim.end('SIGKILL');
    t.equal(await answer, 'none');
    await field.isWhole(t, other, 'killed');
  });

  const again = await field.start();
  const engines = [again, other];

  await t.test('two nodes change the same groups at once', async (t) => {
    await Promise.all([
      field.change([again], CHANGES),
      field.change([other], CHANGES),
      field.change(engines, CHANGES),
    ]);
    await field.isWhole(t, again, 'two nodes');
  });

  await t.test('killed, and started again empty', async (t) => {
    await redis.kill();
    await field.change(engines, CHANGES);
    await field.sendsExactly(t, other, 'without Redis');
    await redis.start();
    await field.change(engines, CHANGES);
    await field.isWhole(t, other, 'empty');
  });

  await t.test('flushed in the middle of a send', async (t) => {
    await field.sendsExactly(t, other, 'flushed', async () => {
      await redis.client.flushall();
    });
    await field.isWhole(t, other, 'after the flush');
  });

  await t.test('hangs during registrations and a send', async (t) => {
    redis.signal('SIGSTOP');
    await field.change(engines, CHANGES);
    await field.isDurable(t, 'while it hangs');
    await field.sendsExactly(t, other, 'while it hangs');
    redis.signal('SIGCONT');
    await field.change(engines, CHANGES);
    await field.isWhole(t, other, 'awake');
    await field.sendsExactly(t, other, 'hangs in the middle', () => redis.signal('SIGSTOP'));
    redis.signal('SIGCONT');
    await field.isWhole(t, other, 'awake again');
  });

  await t.test('started again with an older dump', async (t) => {
    await redis.client.save();
    await field.change(engines, CHANGES);
    await redis.kill();
    await field.change(engines, CHANGES);
    await redis.start();
    t.ok((await redis.client.dbsize()) > 0, 'the dump was loaded');
    await field.isWhole(t, other, 'older');
  });

  await t.test('an engine starts while it hangs', async (t) => {
    redis.signal('SIGSTOP');
    const late = await field.start();
    await field.sendsExactly(t, late, 'started without Redis');
    redis.signal('SIGCONT');
    await field.change([late], CHANGES);
    await field.isWhole(t, late, 'late');
  });
}

async function losesShard(t: Test, url: string): Promise<void> {
  const { urls, masters, replicas } = await startRedisCluster(t, { hasReplicas: true });
  await letReplicasBeCutOff([...masters, ...replicas]);
  const field = await Field.open(t, url, { kind: 'cluster', urls });
  const engines = [await field.start(), await field.start()] as const;
  await field.isMended(t, 'at first');
  await field.change(engines, CHANGES);
  await field.isWhole(t, engines[0], 'whole');

  const { name } = await readLineage(field.sql);
  const hashKey = `tagcast:${name}:{${field.scene.demo.appId}.3.0}`;
  const { master, replica } = await ownersOf(hashKey, masters, replicas);
  // The replica hears nothing more, and clients do not notice.
  await master.client.acl('DELUSER', 'replica');
  await master.client.call('CLIENT', 'KILL', 'TYPE', 'replica');
  await until('the replica is cut off', async () =>
    (await replica.client.info('replication')).includes('master_link_status:down') ? true : null,
  );
  await field.change(engines, CHANGES);
  const newest = Number(await master.client.hget(hashKey, 'v'));
  await master.kill();
  await field.change(engines, CHANGES);
  await field.sendsExactly(t, engines[0], 'while the shard is lost');
  await until('the replica takes over', async () =>
    (await replica.client.role())[0] === 'master' ? true : null,
  );
  t.comment(`the version was ${newest}, is ${await replica.client.hget(hashKey, 'v')}`);
  await field.change(engines, CHANGES);
  await field.isWhole(t, engines[1], 'failed over');
}

async function goesBack(t: Test, url: string): Promise<void> {
  const redis = await startRedis(t);
  const field = await Field.open(t, url, addressOf(redis));

  const begin = await field.start();
  await field.change([begin], CHANGES);
  await field.isMended(t, 'at first');
  await begin.end('SIGTERM');
  const backup = await field.copyDatabase();

  await t.test('it is found to be another one while engines run', async (t) => {
    const engine = await field.start();
    await field.change([engine], CHANGES);
    const before = await readLineage(field.sql);
    await field.sql`update index_lineage set identity = 'another'`;
    await until('it is noticed', async () =>
      (await readLineage(field.sql)).identity === before.identity ? true : null,
    );
    await versionsAreNew(t, field);
    await field.isWhole(t, engine, 'promoted');
    await engine.end('SIGTERM');
  });

  await t.test('it goes back under the same name', async (t) => {
    const { name } = await readLineage(field.sql);
    await field.sql`create schema saved`;
    for (const table of TABLES)
      await field.sql.unsafe(`create table saved.${table} as table ${table}`);
    const before = await field.start();
    await field.change([before], CHANGES);
    await field.isMended(t, 'before it goes back');
    await before.end('SIGTERM');
    await field.sql.begin(async (tx) => {
      for (const table of TABLES) {
        await tx.unsafe(`delete from ${table}`);
        await tx.unsafe(`insert into ${table} select * from saved.${table}`);
      }
    });
    field.forget();
    const engine = await field.start();
    t.not((await readLineage(field.sql)).name, name, 'it has left the index that knows more');
    await field.change([engine], CHANGES);
    await field.isWhole(t, engine, 'gone back');
    await engine.end('SIGTERM');
  });

  await t.test('a backup is restored beside it', async (t) => {
    const { name } = await readLineage(field.sql);
    await field.turnTo(backup);
    const engine = await field.start({ DATABASE_URL: backup });
    t.not((await readLineage(field.sql)).name, name, 'it has an index of its own');
    await versionsAreNew(t, field);
    await field.change([engine], CHANGES);
    await field.isWhole(t, engine, 'restored');
  });
}

async function versionsAreNew(t: Test, { sql }: Field): Promise<void> {
  const rows = await sql<{ version: number }[]>`select min(version) as version from device_groups`;
  t.ok((rows[0]?.version ?? 0) > COUNTED_MAX, 'no group has a version that it had before');
}

const addressOf = ({ url }: RedisServer): RedisAddress => ({ kind: 'single', url });

/** Replication goes by a user of its own from now on, who can be taken away without the clients. */
async function letReplicasBeCutOff(servers: readonly RedisServer[]): Promise<void> {
  const rights = ['on', '>replica', '~*', '&*', '+@all'];
  await Promise.all(
    servers.map(async ({ client }) => {
      await client.acl('SETUSER', 'replica', ...rights);
      await client.config('SET', 'masteruser', 'replica');
      await client.config('SET', 'masterauth', 'replica');
    }),
  );
}

/** The master of a key, and its replica. */
async function ownersOf(
  key: string,
  masters: readonly RedisServer[],
  replicas: readonly RedisServer[],
): Promise<{ readonly master: RedisServer; readonly replica: RedisServer }> {
  for (const master of masters) {
    const isHere = await master.client.exists(key).catch(() => 0);
    if (isHere === 0) continue;
    for (const replica of replicas) {
      const [, , port] = (await replica.client.role()) as readonly unknown[];
      if (port === master.port) return { master, replica };
    }
  }
  throw new Error(`nobody has ${key}`);
}

await withRedis(t, async (t) => {
  await t.test('one Redis', (t) => withPostgres(t, oneRedis));
  await t.test('a cluster loses a shard', (t) => withPostgres(t, losesShard));
  await t.test('the database goes back in time', (t) => withPostgres(t, goesBack));
});
