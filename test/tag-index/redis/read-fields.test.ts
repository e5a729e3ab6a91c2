import t from 'tap';
import { readFields, readOfOneVersion } from '../../../src/tag-index/redis/read-fields.ts';
import { connectPatiently } from '../../support/redis-index.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';

await withRedis(t, async (t) => {
  const redis = await startRedis(t);
  const client = await connectPatiently(t, { kind: 'single', url: redis.url });

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

  await t.test('of more fields than one command reads: all of one version, or null', async (t) => {
    const fields = Array.from({ length: 20_000 }, (_, number) => `${number}`);
    await client.hset('wide', 'v', '1', '7', 'seven', '19999', 'last');
    const [wide, none] = await readOfOneVersion(client, ['wide', 'none'], 'v', fields);
    t.equal(wide?.length, 20_001);
    t.strictSame([wide?.[0], wide?.[8], wide?.[20_000]].map(String), ['1', 'seven', 'last']);
    t.equal(none?.length, 20_001, 'one that does not exist is of one version');

    const changing: typeof client = Object.create(client);
    let asked = 0;
    Object.assign(changing, {
      hmgetBuffer: async (...request: Parameters<typeof client.hmgetBuffer>) => {
        asked += 1;
        if (asked === 2) await client.hset('wide', 'v', '2');
        return client.hmgetBuffer(...request);
      },
    });
    t.strictSame(await readOfOneVersion(changing, ['wide'], 'v', fields.slice(0, 5_000)), [null]);
  });

  await t.test('what is no hash rejects', async (t) => {
    await client.set('text', 'a');
    await t.rejects(readFields(client, ['many', 'text'], ['v']), /WRONGTYPE/);
  });
});
