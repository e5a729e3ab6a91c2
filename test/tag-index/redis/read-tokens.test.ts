import t from 'tap';
import { BLOCK_DEVICES } from '../../../src/domain/device.ts';
import { changesOf } from '../../../src/domain/device-group-change.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { raiseDeviceGroups } from '../../../src/tag-index/groups/raise-device-groups.ts';
import type { RedisClient } from '../../../src/tag-index/redis/connect.ts';
import { readTokens } from '../../../src/tag-index/redis/read-tokens.ts';
import { RedisTagIndex } from '../../../src/tag-index/redis/redis-tag-index.ts';
import { SqlTagIndex } from '../../../src/tag-index/sql/sql-tag-index.ts';
import { TOKEN_BYTES_MAX } from '../../../src/tag-index/tag-index.ts';
import { answersInPieces, seedWideDevices } from '../../contract/tag-index.ts';
import { until } from '../../support/poll.ts';
import { openNodeIndex } from '../../support/redis-index.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';
import { seedDevices } from '../../support/seed.ts';
import { withPostgresStore } from '../../support/store.ts';
import { makeTenant } from '../../support/tenant.ts';

const PLATFORM = 15;

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, { sql }) => {
    const redis = await startRedis(t);
    const node = await openNodeIndex(t, sql, { kind: 'single', url: redis.url });
    const { appId, makeTag } = await makeTenant(sql, 'acme');
    const tagId = await makeTag();
    await seedDevices(sql, { appId, platformId: PLATFORM, tagIds: [tagId], count: 200 });
    const group = { appId, platformId: PLATFORM, groupNumber: 0 };
    const hashKey = `tagcast:${node.name.current}:{${appId}.${PLATFORM}.0}`;
    node.repairs.ask([group]);
    await until('the index is filled', async () =>
      (await redis.client.hget(hashKey, 'v')) === '1' ? true : null,
    );
    const older = await Promise.all(
      [hashKey, `${hashKey}:0`].map(
        async (key) => [key, await redis.client.dumpBuffer(key)] as const,
      ),
    );

    /** The device that was at the ordinal has another token. */
    const place = { appId, platformId: PLATFORM, ordinal: 7 };
    await sql`
      update devices set device_id = 'another'
      where app_id = ${appId} and platform_id = ${PLATFORM} and ordinal = 7`;
    const raised = await raiseDeviceGroups(sql, [group]);
    await node.feed.apply(changesOf(raised, { tokens: [{ ...place, deviceId: 'another' }] }));

    const tokenAt = async (version: number): Promise<string | null> => {
      const tokens = await readTokens(node.client, hashKey, Uint16Array.of(7, 130), version);
      return tokens === null ? null : String(tokens.deviceIds.at(0));
    };

    await t.test('of the version that matched, and of a later one', async (t) => {
      t.equal(await tokenAt(2), 'another');
      t.equal(await tokenAt(1), 'another');
    });

    await t.test('of nobody nothing is asked', async (t) => {
      const tokens = await readTokens(node.client, 'no such group', new Uint16Array(0), 2);
      t.equal(tokens?.deviceIds.length, 0);
      t.equal(tokens?.endOffset, undefined);
    });

    await t.test('an older server that takes over between the questions', async (t) => {
      const client = answering(node.client, async () => {
        for (const [key, dump] of older) await redis.client.restore(key, 0, dump, 'REPLACE');
      });
      const clock = systemClock;
      const { name, breaker } = node;
      const index = new RedisTagIndex({
        client,
        name,
        breaker,
        sql,
        database: new SqlTagIndex(sql),
        clock,
      });
      const run = await index.resolve({
        group,
        audience: { anyTagIds: [tagId], allTagIds: [], noneTagIds: [] },
        ordinalEnd: 200,
        expectedVersion: 2,
      });
      t.equal(await redis.client.hget(hashKey, 'v'), '1');
      t.equal(run.deviceIds.at(7), 'another', 'nobody is sent to by the token that he had before');
      t.equal(run.deviceIds.length, 200);
      t.equal(await tokenAt(2), null);
    });

    await t.test('of tokens that are too large together as many blocks as fit', async (t) => {
      const wide = await makeTenant(sql, 'wide');
      const wideTagId = await wide.makeTag();
      const scope = { appId: wide.appId, platformId: PLATFORM };
      await seedWideDevices(sql, scope, wideTagId, 3_000);
      await raiseDeviceGroups(sql, [{ ...scope, groupNumber: 0 }]);
      node.repairs.ask([{ ...scope, groupNumber: 0 }]);
      const wideKey = `tagcast:${node.name.current}:{${wide.appId}.${PLATFORM}.0}`;
      await until('the index is filled', async () =>
        (await redis.client.hget(wideKey, 'v')) === '1' ? true : null,
      );
      // The blocks of one call are asked for before it is known how large they are.
      const bytesMax = TOKEN_BYTES_MAX + 16 * BLOCK_DEVICES * 3 * 4_096;
      await answersInPieces(t, node.index, scope, wideTagId, { count: 3_000, bytesMax });
    });

    await t.test('one that has nothing', async (t) => {
      await redis.client.hdel(hashKey, 'v');
      t.equal(await tokenAt(1), null);
    });
  }),
);

/** A client whose server is exchanged for another one after its first answers. */
function answering(client: RedisClient, afterwards: () => Promise<void>): RedisClient {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'hmgetBuffer') return value.bind(target);
      return async (...args: readonly unknown[]) => {
        const answer: unknown = await value.apply(target, args);
        await afterwards();
        return answer;
      };
    },
  });
}
