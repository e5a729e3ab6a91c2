import type { Test } from 'tap';
import t from 'tap';
import type { Sql, SqlPool } from '../../../src/database/sql.ts';
import { Compaction } from '../../../src/devices/compact/compaction.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import { lockDevices, NO_VALUES } from '../../../src/devices/sql/find-devices.ts';
import { GROUP_DEVICES, groupNumberOf } from '../../../src/domain/device.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import { claimChunks } from '../../../src/push/sql/ledger/claim-chunks.ts';
import { hasDevice } from '../../../src/push/sql/ledger/reach-words.ts';
import { isReached, reachedIn } from '../../../src/push/sql/ledger/read-reach.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import {
  listDeviceGroups,
  listDeviceGroupsOf,
} from '../../../src/tag-index/groups/list-device-groups.ts';
import { SqlTagIndex } from '../../../src/tag-index/sql/sql-tag-index.ts';
import type { IndexFeed, TagIndex } from '../../../src/tag-index/tag-index.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { makeRegistration, silent } from '../../support/app-api.ts';
import { plain } from '../../support/expressions.ts';
import { makeNotification } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { tokensReached } from '../../support/reach.ts';
import { indexDifferences, openNodeIndex, staleGroups } from '../../support/redis-index.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';
import { withPostgresStore } from '../../support/store.ts';
import { subscriptions, writeGroupTags } from '../../support/subscriptions.ts';
import { makeTenant } from '../../support/tenant.ts';
import type { Upkeep } from '../../support/upkeep.ts';
import { upkeepOf } from '../../support/upkeep.ts';

const PLATFORM = 15;
/**
 * Groups of the first devices, with a few left in each; after them as many as are never looked at.
 */
const SPARSE = 10;
const FILLING = 16;
const LEFT_IN_EACH = 7;
const MINUTE_MS = 60_000;

const makeCompaction = (sql: SqlPool, feed: IndexFeed = NO_FEED): Upkeep =>
  upkeepOf(sql, new Compaction({ sql, feed, log: silent }));

/**
 * An app whose first groups are nearly empty: every device has the one tag, every second the other,
 * and some have notes.
 */
async function makeScene(sql: SqlPool, slug: string, sparse = SPARSE, each = LEFT_IN_EACH) {
  const tenant = await makeTenant(sql, slug);
  const { appId, clientId } = tenant;
  const [tagId = 0, otherTagId = 0] = await tenant.makeTags(2);
  const groups = sparse + FILLING;
  await sql`
    update app_platforms set next_ordinal = ${groups * GROUP_DEVICES}
    where app_id = ${appId} and platform_id = ${PLATFORM}`;
  await sql`
    insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at, refusals, apns_environment, tag_ids)
    select ${appId}, ${PLATFORM}, ordinal,
      encode(substring(sha256(convert_to('device ' || ordinal, 'UTF8')) from 1 for 16), 'hex')::uuid, 'device ' || ordinal, now(),
      case when ordinal % 3 = 0 then 2 else 0 end, case when ordinal % 5 = 0 then 'sandbox' end,
      case when ordinal % 2 = 0 then array[${tagId}, ${otherTagId}]::int[] else array[${tagId}]::int[] end
    from generate_series(0, ${sparse - 1}::int) as g, generate_series(1, ${each}::int) as n,
      lateral (select g * ${GROUP_DEVICES}::int + n * 1000 as ordinal) as places`;
  await writeGroupTags(sql);
  await sql`
    insert into device_groups (app_id, platform_id, group_number, version)
    select ${appId}, ${PLATFORM}, g, 1 from generate_series(0, ${groups - 1}::int) as g`;
  return { ...tenant, clientId, appId, tagId, otherTagId, groups };
}

type Scene = Awaited<ReturnType<typeof makeScene>>;

/** The tokens of those that a job has reached, asked for by the groups where they are now. */
async function tokensIn(sql: Sql, scene: Scene, id: string): Promise<readonly string[]> {
  const devices = await sql<{ ordinal: number; token: string }[]>`
    select ordinal, device_id as token from devices where app_id = ${scene.appId} order by device_id`;
  const scope = { appId: scene.appId, platformId: PLATFORM };
  const tokens: string[] = [];
  for (const { ordinal, token } of devices) {
    const groupNumber = groupNumberOf(ordinal);
    const reached = await reachedIn(sql, [id], { ...scope, groupNumber });
    const isIn = reached !== null && hasDevice(reached, ordinal % GROUP_DEVICES);
    const standing = await isReached(sql, id, { ...scope, ordinal });
    if (isIn !== (standing === 'reached')) throw new Error(`${token}: ${isIn}, but ${standing}`);
    if (isIn) tokens.push(token);
  }
  return tokens;
}

/** All that is known of the app's devices but their places. */
const contentOf = (sql: Sql, { appId }: Scene) => sql<Record<string, unknown>[]>`
  select device_id, device_key, refusals, apns_environment, registered_at,
    array(
      select tag_id from ${subscriptions(sql)}
      where s.app_id = d.app_id and s.platform_id = d.platform_id and s.ordinal = d.ordinal order by 1
    ) as tags
  from devices d where app_id = ${appId} order by device_id`;

/** The places too. */
const stateOf = async (sql: Sql, { appId }: Scene) => ({
  devices: await sql`select ordinal, device_id from devices where app_id = ${appId} order by 1`,
  subscriptions:
    await sql`select ordinal, tag_id from ${subscriptions(sql)} where app_id = ${appId} order by 1, 2`,
  groups: await sql`select * from device_groups where app_id = ${appId} order by 3`,
});

/** The groups in which devices are, in order. */
async function occupied(sql: Sql, { appId }: Scene): Promise<readonly number[]> {
  const rows = await sql<{ ordinal: number }[]>`
    select ordinal from devices where app_id = ${appId} order by ordinal`;
  return [...new Set(rows.map(({ ordinal }) => groupNumberOf(ordinal)))];
}

/** Who has the tag, with what is noted of them. */
async function audienceOf(sql: Sql, index: TagIndex, { appId, tagId }: Scene) {
  const audience = { anyTagIds: [tagId], allTagIds: [], noneTagIds: [] };
  const found: string[] = [];
  for (const group of await listDeviceGroupsOf(sql, { appId, platformId: PLATFORM })) {
    const { version: expectedVersion } = group;
    const ordinalEnd = Number.MAX_SAFE_INTEGER;
    const run = await index.resolve({ group, audience, ordinalEnd, expectedVersion });
    for (const [at, offset] of run.offsets.entries()) {
      const history = run.histories.get(group.groupNumber * GROUP_DEVICES + offset);
      found.push(
        `${run.deviceIds.at(at)} ${history?.refusals ?? 0} ${history?.environment ?? null}`,
      );
    }
  }
  return found.sort();
}

const push = (sql: Sql, scene: Scene): Promise<string> =>
  makeNotification(sql, scene, { platformIds: [PLATFORM] });

/** Plans what is due and resolves its chunks as a worker would. */
async function reached(sql: SqlPool, scene: Scene, notificationId: string) {
  const index = new SqlTagIndex(sql);
  const planned = await planDue(sql);
  const part = { notificationId, appId: scene.appId, platformId: PLATFORM, count: 1_000 };
  const devices: string[] = [];
  const isPlanned = planned.some(({ id }) => id === notificationId);
  const chunks = isPlanned ? await claimChunks(sql, [part], 60_000, null) : [];
  for (const chunk of chunks) {
    const { groupNumber, ordinalEnd, groupVersion: expectedVersion } = chunk;
    const audience = plain(chunk.terms.audience);
    const group = { appId: scene.appId, platformId: PLATFORM, groupNumber };
    const run = await index.resolve({ group, audience, ordinalEnd, expectedVersion });
    for (const at of run.offsets.keys()) devices.push(String(run.deviceIds.at(at) ?? 'nobody'));
  }
  const groups = chunks.map(({ groupNumber }) => groupNumber).sort((a, b) => a - b);
  return { groups, devices: devices.sort() };
}

const deviceIdsOf = async (sql: Sql, scene: Scene): Promise<readonly string[]> =>
  (await contentOf(sql, scene)).map((row) => String(row['device_id'])).sort();

const ALL = Array.from({ length: SPARSE }, (_, group) => group);
/** The target of the first device: a whole group of unused ordinals. */
const TARGET = SPARSE + FILLING;

await onEachStore(t, {
  'sparse groups become one, and nothing else is different': async (t, { sql }) => {
    const scene = await makeScene(sql, 'acme');
    const before = await contentOf(sql, scene);
    const audience = await audienceOf(sql, new SqlTagIndex(sql), scene);
    t.equal(audience.length, SPARSE * LEFT_IN_EACH);
    t.same(await occupied(sql, scene), ALL);
    await makeCompaction(sql).run(0);
    t.same(await occupied(sql, scene), [TARGET]);
    t.same(await contentOf(sql, scene), before);
    t.same(await audienceOf(sql, new SqlTagIndex(sql), scene), audience);
    t.same(await sql`select from tag_days`, [], 'nobody gained or lost a tag');
  },

  'groups that everybody has left are neither planned nor asked for': async (t, { sql }) => {
    const scene = await makeScene(sql, 'acme');
    await makeCompaction(sql).run(0);
    const listed = await listDeviceGroupsOf(sql, { appId: scene.appId, platformId: PLATFORM });
    t.same(
      listed.map(({ groupNumber }) => groupNumber),
      [...Array.from({ length: FILLING }, (_, n) => SPARSE + n), TARGET],
    );
    const first = await push(sql, scene);
    await planDue(sql);
    const planned = await sql`
      select from chunks where notification_id = ${first} and group_number < ${SPARSE}`;
    t.equal(planned.length, 0);
    const second = await push(sql, scene);
    t.same((await reached(sql, scene, second)).groups, [TARGET]);
    // An ordinal that a lane still had.
    await sql`
      insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at, tag_ids)
      values (${scene.appId}, ${PLATFORM}, 5, gen_random_uuid(), 'late', now(), array[${scene.tagId}]::int[])`;
    await writeGroupTags(sql);
    await sql`
      update device_groups set version = version + 1 where app_id = ${scene.appId} and group_number = 0`;
    const third = await reached(sql, scene, await push(sql, scene));
    t.same(third.groups, [0, TARGET]);
    t.ok(third.devices.includes('late'));
  },

  'new groups, full groups and a few sparse ones stay as they are': async (t, { sql }) => {
    const scene = await makeScene(sql, 'acme', 7);
    const before = await stateOf(sql, scene);
    await makeCompaction(sql).run(0);
    t.same(await stateOf(sql, scene), before, 'seven are too few');
    const other = await makeScene(sql, 'other', SPARSE, 0);
    await sql`
      insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
      select ${other.appId}, ${PLATFORM}, n, gen_random_uuid(), n::text, now() from generate_series(8191, 10238) n`;
    await makeCompaction(sql).run(0);
    t.same(await occupied(sql, other), [TARGET], '2,047 of 8,192 are few');
    await sql`
      insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
      select ${other.appId}, ${PLATFORM}, n, gen_random_uuid(), n::text, now() from generate_series(0, 2048) n`;
    await sql`update device_groups set vacant_version = null where app_id = ${other.appId}`;
    await makeCompaction(sql).run(0);
    t.same(await occupied(sql, other), [0, TARGET], '2,049 are not');
  },

  'a bounded piece in each run, the rest in the next ones': async (t, { sql }) => {
    const scene = await makeScene(sql, 'acme', SPARSE, 0);
    await sql`
      insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
      select ${scene.appId}, ${PLATFORM}, g * 8192 + n, gen_random_uuid(), g || ' ' || n, now()
      from generate_series(0, ${SPARSE - 1}::int) g, generate_series(0, 899) n`;
    const compaction = makeCompaction(sql);
    await compaction.run(0);
    const halfway = await occupied(sql, scene);
    t.same(halfway, [5, 6, 7, 8, 9, TARGET], 'twenty transactions of 250');
    await compaction.run(1);
    await compaction.run(2);
    t.same(await occupied(sql, scene), [TARGET, TARGET + 1]);
    const rows = await sql`select from devices where app_id = ${scene.appId}`;
    t.equal(rows.length, SPARSE * 900);
  },

  'a device with very many tags goes alone': async (t, { sql }) => {
    const scene = await makeScene(sql, 'acme');
    const { appId, tagId, otherTagId } = scene;
    await sql`update devices set tag_ids = array[${tagId}]::int[]`;
    await sql`
      update devices set tag_ids = ${tagId}::int || array(select generate_series(${otherTagId}::int, ${otherTagId}::int + 5999))
      where app_id = ${appId} and ordinal = 3000`;
    await writeGroupTags(sql);
    const before = await contentOf(sql, scene);
    await makeCompaction(sql).run(0);
    t.same(await contentOf(sql, scene), before);
    const groups = await sql<{ version: number }[]>`
      select version from device_groups where app_id = ${appId} and group_number = 0`;
    t.same(groups[0]?.version, 4, 'in three pieces: before it, alone, after it');
    t.same(await occupied(sql, scene), [TARGET]);
  },

  'a send, planned or soon to be, is not disturbed': async (t, { sql }) => {
    const scene = await makeScene(sql, 'acme');
    const elsewhere = await makeScene(sql, 'elsewhere');
    const before = await stateOf(sql, scene);
    const id = await push(sql, scene);
    const compaction = makeCompaction(sql);
    let minute = 0;
    const compact = async (): Promise<void> => {
      await compaction.run(minute * MINUTE_MS);
      minute += 1;
    };
    await compact();
    t.same(await stateOf(sql, scene), before, 'accepted');
    t.same(await occupied(sql, elsewhere), [TARGET], 'others are no part of it');
    await planDue(sql);
    await compact();
    t.same(await stateOf(sql, scene), before, 'running');
    await sql`update notifications set state = 'CANCELLED' where id = ${id}`;
    await compact();
    t.same(await stateOf(sql, scene), before, 'cancelled, and not yet counted');
    await sql`
      update notifications set finished_at = null, state = 'SCHEDULED', send_at = now() + interval '4 minutes'
      where id = ${id}`;
    await compact();
    t.same(await stateOf(sql, scene), before, 'scheduled for soon');
    await sql`update notifications set finished_at = now(), state = 'FINISHED' where id = ${id}`;
    await sql`update notification_scopes set deletions = 'held'`;
    await compact();
    t.same(await stateOf(sql, scene), before, 'its erase reasons name devices by their places');
    await sql`update notification_scopes set deletions = null`;
    await sql`
      update notifications set finished_at = null, state = 'SCHEDULED', send_at = now() + interval '1 hour'
      where id = ${id}`;
    await compact();
    t.same(await occupied(sql, scene), [TARGET], 'scheduled for later');
  },

  'the reach of a job follows its devices, wherever they move': async (t, { sql }) => {
    const scene = await makeScene(sql, 'acme');
    const id = await push(sql, scene);
    // In each group every device but the last.
    const words = Buffer.from(
      [1, 2, 3, 4, 5, 6].flatMap((n) => [(n * 1_000) >> 8, (n * 1_000) & 0xff]),
    );
    await sql`
      insert into push_reach (notification_id, app_id, platform_id, group_number, words)
      select ${id}, ${scene.appId}, ${PLATFORM}, n, ${words} from generate_series(0, ${SPARSE - 1}::int) n`;
    await sql`update notifications set finished_at = now(), state = 'FINISHED' where id = ${id}`;
    const before = await tokensReached(sql, id);
    t.equal(before.length, SPARSE * (LEFT_IN_EACH - 1));
    await makeCompaction(sql).run(0);
    t.same(await occupied(sql, scene), [TARGET]);
    t.same(await tokensReached(sql, id), before);
    await sql`
      update devices set ordinal = ordinal + ${GROUP_DEVICES} where app_id = ${scene.appId}`;
    t.same(await occupied(sql, scene), [TARGET + 1]);
    t.same(await tokensReached(sql, id), before, 'moved twice');
    t.same(await tokensIn(sql, scene, id), before, 'the same by its new group alone');
    await sql`delete from devices where app_id = ${scene.appId} and device_id = ${before[0] ?? ''}`;
    t.same(await tokensReached(sql, id), before.slice(1), 'who is erased is nobody');
  },

  'a transaction that fails in the middle leaves all as it was': async (t, { sql }) => {
    const scene = await makeScene(sql, 'acme');
    // The last version that there is: raising it fails after devices and subscriptions have moved.
    const LAST = '9223372036854775807';
    await sql`update device_groups set version = ${LAST}::bigint where app_id = ${scene.appId} and group_number = 0`;
    const before = await stateOf(sql, scene);
    const compaction = makeCompaction(sql);
    await t.rejects(compaction.run(0), /bigint out of range/);
    t.same(await stateOf(sql, scene), before);
    await sql`update device_groups set version = 1 where app_id = ${scene.appId} and group_number = 0`;
    await compaction.run(1);
    t.same(await occupied(sql, scene), ALL, 'not again at once');
    await compaction.run(MINUTE_MS);
    t.same(await occupied(sql, scene), [TARGET]);
  },
});

/**
 * Holds a compaction up when it has moved devices and not yet raised their groups, while
 * `meanwhile` runs.
 */
async function heldUp(sql: SqlPool, scene: Scene, meanwhile: () => Promise<void>): Promise<void> {
  let run: Promise<void> = Promise.resolve();
  await sql.begin(async (tx) => {
    await tx`select from device_groups where app_id = ${scene.appId} and group_number = 0 for update`;
    run = makeCompaction(sql).run(0);
    run.catch(() => undefined);
    await waiting(sql, 1);
    await meanwhile();
  });
  await run;
}

/** Until so many wait for locks; answers their backends, who came first first. */
const waiting = (sql: Sql, count: number): Promise<readonly number[]> =>
  until(`${count} wait`, async () => {
    const rows = await sql<{ pid: number }[]>`
      select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' order by query_start`;
    return rows.length === count ? rows.map(({ pid }) => pid) : null;
  });

await withPostgresStore(t, async (t, store) => {
  const { sql } = store;

  await t.test('a push in this moment waits, and reaches everybody once', async (t) => {
    const scene = await makeScene(sql, 'push');
    const devices = await deviceIdsOf(sql, scene);
    let id: Promise<string> = Promise.resolve('');
    await heldUp(sql, scene, async () => {
      id = push(sql, scene);
      await waiting(sql, 2);
      t.same(await planDue(sql), [], 'nothing is due before');
    });
    const { groups, devices: found } = await reached(sql, scene, await id);
    t.same(found, devices);
    t.ok(groups.includes(TARGET));
  });

  await t.test('while a push is being accepted nothing moves', async (t) => {
    const scene = await makeScene(sql, 'accepting');
    const before = await stateOf(sql, scene);
    await sql.begin(async (tx) => {
      await push(tx, scene);
      await makeCompaction(sql).run(0);
    });
    t.same(await stateOf(sql, scene), before);
  });

  await t.test('whoever registers in this moment does so at the new place', async (t) => {
    const scene = await makeScene(sql, 'registers');
    const third = (await scene.makeTags(1))[0] ?? 0;
    const registration = makeRegistration(store);
    const device = deviceRef(scene.appId, PLATFORM, 'device 1000');
    let result: Promise<string> = Promise.resolve('');
    await heldUp(sql, scene, async () => {
      result = registration.submit({
        kind: 'set',
        device,
        tagIds: [scene.tagId, third],
        attributes: { ...NO_ATTRIBUTES, appVersion: '2' },
      });
      await waiting(sql, 2);
    });
    t.equal(await result, 'committed');
    const rows = await sql`
      select ordinal, app_version from devices where app_id = ${scene.appId} and device_id = 'device 1000'`;
    t.match(rows, [{ ordinal: TARGET * GROUP_DEVICES, app_version: '2' }]);
    const tags = await sql<{ ordinal: number; tagId: number }[]>`
      select ordinal, tag_id as "tagId" from ${subscriptions(sql)}
      where app_id = ${scene.appId} and ordinal in (1000, ${TARGET * GROUP_DEVICES}) order by tag_id`;
    t.same(
      tags.map(({ ordinal, tagId }) => [ordinal, tagId]),
      [scene.tagId, third].map((tagId) => [TARGET * GROUP_DEVICES, tagId]),
    );
  });

  await t.test('a device that is registering stays, and its group is not vacant', async (t) => {
    const scene = await makeScene(sql, 'stays');
    const devices = await deviceIdsOf(sql, scene);
    await sql.begin(async (tx) => {
      t.equal(
        (await lockDevices(tx, [deviceRef(scene.appId, PLATFORM, 'device 2000')], 0, NO_VALUES))
          .devices.length,
        1,
      );
      await makeCompaction(sql).run(0);
    });
    t.same(await occupied(sql, scene), [0, TARGET]);
    t.same((await reached(sql, scene, await push(sql, scene))).devices, devices);
  });

  await t.test('a node that is killed in the middle leaves all as it was', async (t) => {
    const scene = await makeScene(sql, 'killed');
    const before = await stateOf(sql, scene);
    await t.rejects(
      heldUp(sql, scene, async () => {
        const [pid = 0] = await waiting(sql, 1);
        await sql`select pg_terminate_backend(${pid})`;
        await waiting(sql, 0);
      }),
      /CONNECTION_CLOSED|terminating connection/,
    );
    t.same(await stateOf(sql, scene), before);
    await makeCompaction(sql).run(0);
    t.same(await occupied(sql, scene), [TARGET + 1], 'what it had reserved is a gap');
  });

  await t.test('registrations go on beside it, and none is lost', async (t) => {
    const scene = await makeScene(sql, 'beside', SPARSE, 8);
    const registrations = [makeRegistration(store), makeRegistration(store)];
    const deviceIds = await deviceIdsOf(sql, scene);
    const tagIds = await scene.makeTags(12);
    const wishes = tagIds.map(async (tagId, round) => {
      const results = await Promise.all(
        deviceIds.map((deviceId, at) =>
          registrations[(at + round) % 2]?.submit({
            kind: 'reg',
            device: deviceRef(scene.appId, PLATFORM, deviceId),
            tagIds: [tagId],
            attributes: NO_ATTRIBUTES,
          }),
        ),
      );
      return results.every((result) => result === 'committed');
    });
    const compaction = makeCompaction(sql);
    for (let minute = 0; minute < 20; minute += 1) await compaction.run(minute * MINUTE_MS);
    t.ok((await Promise.all(wishes)).every((isDone) => isDone));
    const rows = await sql<{ tags: number }[]>`
      select (
        select count(*) from ${subscriptions(sql)}
        where s.app_id = d.app_id and s.platform_id = d.platform_id and s.ordinal = d.ordinal and tag_id = any(${[...tagIds]}::int[])
      ) as tags
      from devices d where app_id = ${scene.appId}`;
    t.equal(rows.length, deviceIds.length);
    t.ok(rows.every(({ tags }) => tags === tagIds.length));
    t.comment(`left in groups ${await occupied(sql, scene)}`);
  });
});

await withRedis(t, (t: Test) =>
  withPostgresStore(t, async (t, { sql }) => {
    const scene = await makeScene(sql, 'redis', 64);
    const { url } = await startRedis(t);
    const { client, name, feed, repairs, index, missed } = await openNodeIndex(t, sql, {
      kind: 'single',
      url,
    });
    repairs.ask(await listDeviceGroups(sql, { appId: 0, platformId: 0, groupNumber: -1 }, 1_000));
    await until('the index is there', async () =>
      (await staleGroups(sql, client, name.current)).length === 0 ? true : null,
    );
    const audience = await audienceOf(sql, index, scene);
    const chunks = await reached(sql, scene, await push(sql, scene));
    const keys = await client.dbsize();
    await sql`update notifications set finished_at = now(), state = 'FINISHED'`;
    const compaction = makeCompaction(sql, feed);
    for (let run = 0; run < 4; run += 1) await compaction.run(run);
    t.equal(missed(), 0);
    t.same(await staleGroups(sql, client, name.current), [], 'it has heard of everything');
    t.same(await indexDifferences(sql, client, name.current), []);
    t.same(await audienceOf(sql, index, scene), audience);
    const after = await reached(sql, scene, await push(sql, scene));
    t.same(after.devices, chunks.devices);
    t.equal(after.groups.length, 1);
    const keysAfter = await client.dbsize();
    t.ok(keysAfter < keys / 4);
    t.comment(
      `${audience.length} devices: ${chunks.groups.length} chunks of a send became ${after.groups.length}, ${keys} keys in Redis ${keysAfter}`,
    );
  }),
);
