import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../src/database/store.ts';
import { systemClock } from '../../src/std/clock.ts';
import { BEFORE_ALL, listDeviceGroups } from '../../src/tag-index/groups/list-device-groups.ts';
import { loadGroup } from '../../src/tag-index/redis/load-group.ts';
import { RedisTagIndex } from '../../src/tag-index/redis/redis-tag-index.ts';
import { SqlTagIndex } from '../../src/tag-index/sql/sql-tag-index.ts';
import type { TagIndex } from '../../src/tag-index/tag-index.ts';
import { agreesOnTests, databaseForRows } from '../contract/tested-audiences.ts';
import { askedTexts } from '../contract/tested-languages.ts';
import { makeTenant } from '../support/notifications.ts';
import { openNodeIndex } from '../support/redis-index.ts';
import { startRedis, withRedis } from '../support/redis-server.ts';
import { withPostgresStore, withStores } from '../support/store.ts';
import { randomDevices, seedTestedDevices } from '../support/tested-devices.ts';

const ROUNDS = 40;

async function sceneOf(store: Store, counts: readonly [number, number]) {
  const { sql } = store;
  const tenant = await makeTenant(sql, 'tested');
  const devices = randomDevices(counts);
  await seedTestedDevices(sql, tenant, devices);
  return { sql, clientId: tenant.clientId, appId: tenant.appId, devices };
}

await withStores(t, async (t, store) => {
  const scene = await sceneOf(store, [1_500, 500]);
  await agreesOnTests(scene, { database: new SqlTagIndex(store.sql) }, ROUNDS);
  t.pass(`${ROUNDS} expressions mean in the database what they say`);
  await getTheirLanguages(t, scene, new SqlTagIndex(store.sql));
});

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, store) => {
    const scene = await sceneOf(store, [9_000, 1_000]);
    const index = await loadedIndex(t, store);
    await agreesOnTests(scene, { Redis: index, database: new SqlTagIndex(store.sql) }, ROUNDS);
    t.pass(`${ROUNDS} expressions mean in Redis and in the database what they say`);
    await getTheirLanguages(t, scene, index);
  }),
);

async function getTheirLanguages(
  t: Test,
  scene: Awaited<ReturnType<typeof sceneOf>>,
  index: TagIndex,
): Promise<void> {
  const [tag] = await scene.sql<{ id: number }[]>`select id from tags where source_id = 'a'`;
  const asked = { id: tag?.id ?? 0, sourceId: 'a' };
  const { meant, resolved, rechecked } = await askedTexts(scene, index, asked);
  t.same(resolved, meant, 'the longest prefix');
  t.same(rechecked, meant.slice(0, rechecked.length), 'also when they are tried again');
  t.same([...new Set(meant.map(([, text]) => text))].sort(), [0, 1, 2, 3], 'each but one is had');
}

/** Redis answers, but for everybody, and for days and numbers, which only rows know. */
async function loadedIndex(t: Test, { sql }: Store): Promise<TagIndex> {
  const { url } = await startRedis(t);
  const { client, name, breaker } = await openNodeIndex(t, sql, { kind: 'single', url });
  for (const group of await listDeviceGroups(sql, BEFORE_ALL, 100)) {
    await loadGroup(sql, client, name.current, group, { isForced: true });
  }
  const database = databaseForRows(sql);
  return new RedisTagIndex({ client, name, breaker, sql, database, clock: systemClock });
}
