/**
 * A cluster loses a shard, and the replica that takes over misses the last changes: no device is
 * missed, the same as with one Redis.
 */

import type { Test } from 'tap';
import t from 'tap';
import { readLineage } from '../../src/tag-index/groups/lineage.ts';
import { until } from '../support/poll.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { startRedisCluster, withRedis } from '../support/redis-server.ts';
import { withPostgres } from '../support/store.ts';
import { Field } from './redis-field.ts';

t.setTimeout(400_000);

const CHANGES = 60;

async function losesShard(t: Test, url: string): Promise<void> {
  const { urls, masters, replicas } = await startRedisCluster(t, { hasReplicas: true });
  await letReplicasBeCutOff([...masters, ...replicas]);
  const field = await Field.open(t, url, { kind: 'cluster', urls });
  const engines = [await field.start(), await field.start()] as const;
  await field.watch.isRepaired(t, 'at first');
  await field.change(engines, CHANGES);
  await field.isWhole(t, engines[0], 'whole');

  const { name } = await readLineage(field.sql);
  const hashKey = `tagcast:${name}:{${field.scene.demo.appId}.3.0}`;
  const { master, replica } = await ownersOf(hashKey, masters, replicas);
  await field.watch.hold();
  await replica.client.readonly();
  await until('the replica knows that nobody repairs', async () =>
    (await replica.client.exists(`${hashKey}:repairing`)) === 1 ? true : null,
  );
  // It hears nothing more, and clients do not notice.
  await master.client.acl('DELUSER', 'replica');
  await master.client.call('CLIENT', 'KILL', 'TYPE', 'replica');
  await until('the replica is cut off', async () =>
    (await replica.client.info('replication')).includes('master_link_status:down') ? true : null,
  );
  await field.change(engines, CHANGES);
  const newest = Number(await master.client.hget(hashKey, 'v'));
  await Promise.all([field.change(engines, CHANGES), master.kill()]);
  await field.isDurable(t, 'the shard is lost');
  await field.sendsExactly(t, engines[0], 'while it is lost');
  await until('the replica takes over', async () =>
    (await replica.client.role())[0] === 'master' ? true : null,
  );
  const promoted = Number(await replica.client.hget(hashKey, 'v'));
  t.ok(promoted < newest, `it has version ${promoted}, the lost one had ${newest}`);
  await field.sendsWhileBehind(t, engines[0], 'failed over');
  await field.change(engines, CHANGES);
  await field.sendsWhileBehind(t, engines[1], 'and changed');
  await field.watch.letRepair();
  await field.isWhole(t, engines[1], 'repaired');
}

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

await withRedis(t, (t) => withPostgres(t, losesShard));
