import type { Test } from 'tap';
import t from 'tap';
import type { Sql } from '../../../src/database/sql.ts';
import type { Store } from '../../../src/database/store.ts';
import { deviceKeyOf, groupNumberOf } from '../../../src/domain/device.ts';
import type { Edits } from '../../../src/domain/device-group-change.ts';
import { changesOf } from '../../../src/domain/device-group-change.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { readVersions } from '../../../src/tag-index/groups/list-device-groups.ts';
import { raiseDeviceGroups } from '../../../src/tag-index/groups/raise-device-groups.ts';
import type { RedisAddress, RedisClient } from '../../../src/tag-index/redis/connect.ts';
import { RedisFeed } from '../../../src/tag-index/redis/feed.ts';
import { IndexName } from '../../../src/tag-index/redis/index-name.ts';
import { RedisBreaker } from '../../../src/tag-index/redis/redis-breaker.ts';
import { RedisTagIndex } from '../../../src/tag-index/redis/redis-tag-index.ts';
import { SqlTagIndex } from '../../../src/tag-index/sql/sql-tag-index.ts';
import type { TagIndex } from '../../../src/tag-index/tag-index.ts';
import { NOBODY } from '../../../src/tag-index/tag-index.ts';
import type { ModelScope, TagIndexBench } from '../../contract/tag-index.ts';
import { deviceIdOf, tagIndexContract } from '../../contract/tag-index.ts';
import { connectPatiently } from '../../support/redis-index.ts';
import type { RedisServer } from '../../support/redis-server.ts';
import { startRedis, startRedisCluster, withRedis } from '../../support/redis-server.ts';
import { withPostgresStore } from '../../support/store.ts';

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, store) => {
    await t.test('a single server', async (t) => {
      const server = await startRedis(t);
      await contractOn(t, store, { kind: 'single', url: server.url }, [server]);
    });
    await t.test('a cluster of three', async (t) => {
      const { urls, masters } = await startRedisCluster(t);
      await contractOn(t, store, { kind: 'cluster', urls }, masters);
    });
  }),
);

async function contractOn(
  t: Test,
  store: Store,
  address: RedisAddress,
  servers: readonly RedisServer[],
): Promise<void> {
  const client = await connectPatiently(t, address, (error) => t.comment(error));
  const bench = await makeBench(t, store.sql, client);
  await tagIndexContract(
    t,
    async () => {
      await store.sql`truncate devices, device_group_tags, device_groups`;
      await Promise.all(servers.map((server) => server.client.flushall()));
      return bench;
    },
    25,
  );
}

/** Every answer has to come from Redis. */
async function makeBench(t: Test, sql: Sql, client: RedisClient): Promise<TagIndexBench> {
  const clock = systemClock;
  const name = await IndexName.read(sql, clock);
  const onError = (error: unknown) => t.fail('Redis failed', { error });
  const breaker = new RedisBreaker({ clock, onChange: onError, onRefusal: onError });
  const feed = new RedisFeed({
    client,
    name,
    breaker,
    clock,
    onMissed: (groups) => t.fail('a change was not applied', { groups }),
    onAhead: (_, seen) => Promise.reject(new Error(`Redis has ${seen.length} more`)),
  });
  const truth = new SqlTagIndex(sql);
  const database: TagIndex = {
    resolve: () => Promise.reject(new Error('the database was asked')),
    count: () => Promise.reject(new Error('the database was asked')),
    recheck: (...asked) => truth.recheck(...asked),
  };
  const raise = async (scope: ModelScope, ordinal: number, edits: Edits): Promise<void> => {
    const raised = await raiseDeviceGroups(sql, [
      { ...scope, groupNumber: groupNumberOf(ordinal) },
    ]);
    await feed.apply(changesOf(raised, edits));
  };
  return {
    sql,
    index: new RedisTagIndex({ client, name, breaker, sql, database, clock }),
    async versionOf(group) {
      const [known] = await readVersions(sql, [group]);
      return known?.version ?? 0;
    },
    async setTags(scope, ordinal, tagIds, history) {
      const { appId, platformId } = scope;
      const place = { appId, platformId, ordinal };
      const deviceId = deviceIdOf(scope, ordinal);
      const had = await tagsOf(sql, place);
      await sql`
        insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at, refusals, apns_environment, tag_ids)
        values (${appId}, ${platformId}, ${ordinal}, ${deviceKeyOf(deviceId)}, ${deviceId}, now(),
          ${history.refusals}, ${history.environment}, ${[...tagIds].sort((a, b) => a - b)}::integer[])
        on conflict (app_id, platform_id, ordinal) do update set
          refusals = excluded.refusals, apns_environment = excluded.apns_environment, tag_ids = excluded.tag_ids`;
      await sql`
        insert into device_group_tags (app_id, platform_id, tag_id, group_number)
        select ${appId}, ${platformId}, tag_id, ${groupNumberOf(ordinal)}::integer from unnest(${[...tagIds]}::integer[]) as tag_id
        on conflict do nothing`;
      await raise(scope, ordinal, {
        tokens: [{ ...place, deviceId }],
        tags: [{ ...place, gained: tagIds, lost: had.filter((tagId) => !tagIds.includes(tagId)) }],
        histories: [{ ...place, history }],
      });
    },
    async erase(scope, ordinal) {
      const { appId, platformId } = scope;
      const place = { appId, platformId, ordinal };
      const lost = await tagsOf(sql, place);
      await sql`delete from devices where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}`;
      await raise(scope, ordinal, {
        tokens: [{ ...place, deviceId: null }],
        tags: [{ ...place, gained: [], lost }],
      });
    },
  };
}

async function tagsOf(sql: Sql, place: ModelScope & { readonly ordinal: number }) {
  const { appId, platformId, ordinal } = place;
  const rows = await sql<{ tagId: number }[]>`
    select unnest(tag_ids) as "tagId" from devices
    where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}`;
  return rows.map(({ tagId }) => tagId);
}

t.test('an audience that too many values meet is for the database', async (t) => {
  const scope = { appId: 1, platformId: 3 };
  const nobody = (): never => {
    throw new Error('Redis was asked');
  };
  const index = new RedisTagIndex({
    client: {} as never,
    name: { current: 'index', doubt: nobody } as never,
    breaker: { run: nobody } as never,
    sql: nobody as never,
    database: {
      resolve: () => Promise.resolve(NOBODY),
      count: () => Promise.resolve({ count: 7, isProjected: false }),
    } as never,
    clock: systemClock,
  });
  const audienceOf = (values: number) => {
    const facetIds = Array.from({ length: values }, (_, at) => 1_000 + at);
    return {
      anyTagIds: [1],
      allTagIds: [],
      noneTagIds: [],
      facetIds,
      condition: { or: facetIds },
    };
  };
  const requestOf = (values: number) => ({
    group: { ...scope, groupNumber: 0 },
    audience: audienceOf(values),
    ordinalEnd: 1,
    expectedVersion: 1,
  });
  await t.rejects(index.resolve(requestOf(20_000)), /Redis was asked/);
  t.equal(await index.resolve(requestOf(20_001)), NOBODY);
  t.match(await index.count(nobody as never, scope, audienceOf(20_001)), { count: 7 });
});
