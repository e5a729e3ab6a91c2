import t from 'tap';
import { connectRedis } from '../../../src/tag-index/redis/connect.ts';
import { readFields } from '../../../src/tag-index/redis/read-fields.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';

await withRedis(t, async (t) => {
  const redis = await startRedis(t);
  const client = connectRedis({ kind: 'single', url: redis.url }, () => undefined);
  t.teardown(() => client.disconnect());
  await new Promise((resolve) => client.once('ready', resolve));

  await t.test(
    'of more hashes than one script reads: in their order, null where nothing is',
    async (t) => {
      const keys = Array.from({ length: 700 }, (_, number) => `hash ${number}`);
      await Promise.all(
        keys
          .filter((_, number) => number % 3 > 0)
          .map((key, at) => client.hset(key, 'v', `${key} v`, at % 2 === 0 ? 'n' : 'other', 'n')),
      );
      const found = await readFields(client, keys, ['v', 'n', '4']);
      const one = await Promise.all(keys.map((key) => readFields(client, [key], ['v', 'n', '4'])));
      t.equal(found.length, keys.length);
      t.strictSame(found, one.flat(), 'as each of them by itself');
      t.equal(found[1]?.[0]?.toString(), 'hash 1 v');
      t.strictSame(found[0], [null, null, null]);
    },
  );

  await t.test('of more fields than one script reads', async (t) => {
    const fields = Array.from({ length: 1_000 }, (_, number) => `${number}`);
    await client.hset('many', '7', 'seven');
    const [first, second] = await readFields(client, ['many', 'none'], fields);
    t.equal(first?.[7]?.toString(), 'seven');
    t.equal(second?.length, 1_000);
  });

  await t.test('what is no hash rejects', async (t) => {
    await client.set('text', 'a');
    await t.rejects(readFields(client, ['many', 'text'], ['v']), /WRONGTYPE/);
  });
});
