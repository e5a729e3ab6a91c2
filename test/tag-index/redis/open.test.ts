import { Writable } from 'node:stream';
import { pino } from 'pino';
import t from 'tap';
import { openIndexKeeper } from '../../../src/tag-index/redis/open.ts';
import { until } from '../../support/poll.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';
import { withPostgresStore } from '../../support/store.ts';

const EVICTING = ['--maxmemory-policy', 'allkeys-lru'];

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, { sql }) => {
    await t.test('a Redis that would evict is refused', async (t) => {
      const redis = await startRedis(t, EVICTING);
      const { log } = listen();
      await t.rejects(
        openIndexKeeper({ kind: 'single', url: redis.url }, sql, log),
        /maxmemory-policy allkeys-lru/,
      );
    });

    await t.test('one that comes later is told of', async (t) => {
      const redis = await startRedis(t, EVICTING);
      await redis.kill();
      const { log, lines } = listen();
      const keeper = await openIndexKeeper({ kind: 'single', url: redis.url }, sql, log);
      t.teardown(() => keeper.stop());
      t.notOk(keeper.reading.isReachable);
      await redis.start();
      await until('it is told', () =>
        lines.some((line) => line.includes('allkeys-lru') && line.includes('"level":50'))
          ? true
          : null,
      );
      await until('it is used all the same', () => (keeper.reading.isReachable ? true : null));
    });
  }),
);

function listen() {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  return { log: pino(sink), lines };
}
