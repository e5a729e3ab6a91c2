import { Redis } from 'ioredis';
import type { Test } from 'tap';
import t from 'tap';
import type { RedisClient } from '../../../src/tag-index/redis/connect.ts';
import { connectRedis } from '../../../src/tag-index/redis/connect.ts';
import { until } from '../../support/poll.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

await withRedis(t, async (t) => {
  const redis = await startRedis(t);

  await t.test('a connection on which nothing comes any more is made anew', async (t) => {
    const proxy = await startTcpProxy(t, redis.port);
    const client = await connected(t, `redis://127.0.0.1:${proxy.port}`);
    proxy.silence();
    await t.rejects(client.ping(), 'a command is not waited for');
    await answers(client);
  });

  await t.test('commands of one turn go to the socket together', async (t) => {
    const client = await connected(t, redis.url);
    if (!(client instanceof Redis)) throw new Error('it is a single server');
    const writes = countWrites(client);
    await Promise.all([client.get('a'), client.get('b'), client.hget('c', 'd')]);
    t.equal(writes(), 1);
    await client.get('a');
    t.equal(writes(), 2, 'a lone one waits for nobody');
    client.disconnect(true);
    await new Promise((resolve) => client.once('ready', resolve));
    const after = countWrites(client);
    await Promise.all([client.get('a'), client.get('b')]);
    t.equal(after(), 1, 'and so on the next connection');
  });

  await t.test(
    'a server that has become a replica is left for the one behind its name',
    async (t) => {
      const client = await connected(t, redis.url);
      let reconnects = 0;
      client.on('reconnecting', () => {
        reconnects += 1;
      });
      await redis.client.replicaof('127.0.0.1', '1');
      await t.rejects(client.set('key', 'value'), /READONLY/);
      await redis.client.replicaof('NO', 'ONE');
      await until('it connects again', () => (reconnects > 0 ? true : null));
      await answers(client);
    },
  );
});

async function connected(t: Test, url: string): Promise<RedisClient> {
  const client = connectRedis({ kind: 'single', url }, () => undefined);
  t.teardown(() => client.disconnect());
  await new Promise((resolve) => client.once('ready', resolve));
  return client;
}

/** Writes to the socket of its present connection, from now on. */
function countWrites({ stream }: Redis): () => number {
  let writes = 0;
  for (const name of ['_write', '_writev'] as const) {
    const write = stream[name]?.bind(stream) as (...given: unknown[]) => void;
    Object.assign(stream, {
      [name]: (...given: unknown[]) => {
        writes += 1;
        write(...given);
      },
    });
  }
  return () => writes;
}

function answers(client: RedisClient): Promise<true> {
  return until('it answers', async () =>
    (await client.ping().catch(() => null)) === 'PONG' ? true : null,
  );
}
