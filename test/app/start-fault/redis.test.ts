/** The real program with a Redis that would lose what it holds, and with one that is away. */

import t from 'tap';
import { untilReady } from '../../support/client.ts';
import { until } from '../../support/poll.ts';
import { runCommand, startEngine } from '../../support/processes.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';
import { runHere } from '../../support/run-here.ts';
import { holdThrown, PASSWORD, SECRET_KEY } from '../../support/start-refusals.ts';
import { withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

await withRedis(t, (t) =>
  withPostgres(t, async (t, url) => {
    const store = { DATABASE_URL: url, SECRET_KEY };
    const redis = await startRedis(t, ['--maxmemory-policy', 'allkeys-lru']);
    const line = /^REDIS_URL: .+ has maxmemory-policy allkeys-lru.+noeviction/;
    await holdThrown(t, [['a Redis that would evict', { ...store, REDIS_URL: redis.url }, line]]);

    await t.test('a Redis that is away is no reason not to start', async (t) => {
      const away = { ...store, REDIS_URL: `redis://:${PASSWORD}@127.0.0.1:1` };
      const engine = await startEngine(t, temporaryDirectory(t), away);
      const ready = await untilReady(engine.baseUrl);
      t.same(await ready.json(), {
        status: 'ok',
        stores: { postgres: 'ok', redis: 'unavailable' },
      });
      await until('the log says so', () =>
        engine.output().includes('Redis cannot be reached') ? true : null,
      );
      t.notOk(engine.output().includes(PASSWORD), 'no secret');
      const { errors } = await runCommand(t, ['index', 'verify'], away);
      t.match(
        errors,
        /^REDIS_URL: Redis cannot be reached[^\n]+\n$/,
        'of the command that needs it',
      );
      const { host } = new URL(redis.url);
      const encrypted = { ...store, REDIS_URL: `rediss://:${PASSWORD}@${host}` };
      t.match(
        (await runHere(['index', 'verify'], encrypted)).errors,
        /^REDIS_URL: .+ if it does not offer TLS there, begin its URL with redis:/,
      );
    });
  }),
);
