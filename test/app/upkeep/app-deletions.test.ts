/**
 * A deleted app is gone at once, and all that it leaves is erased afterwards: also by nodes that
 * die between any two statements, and while pushes to the same tags go on. On every store.
 */

import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import t from 'tap';
import { AppDeletions } from '../../../src/app/upkeep/app-deletions.ts';
import { eraseEndedJobs } from '../../../src/app/upkeep/erase-client.ts';
import { listAppDeletions } from '../../../src/catalogue/list-deletions.ts';
import { deleteApp } from '../../../src/catalogue/sql/delete-app.ts';
import { insertApp } from '../../../src/catalogue/sql/insert-app.ts';
import { readApp } from '../../../src/catalogue/sql/read-apps.ts';
import { lockClient } from '../../../src/clients/lock-client.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import type { Store } from '../../../src/database/store.ts';
import { eraseFromJobs } from '../../../src/push/sql/erase-jobs.ts';
import { changeState } from '../../../src/push/sql/ledger/change-state.ts';
import { insertNotifications } from '../../../src/push/sql/notifications/insert-notifications.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { aNotification } from '../../support/a-notification.ts';
import { addTenant } from '../../support/api.ts';
import { makeAppApi } from '../../support/app-api.ts';
import { mortal } from '../../support/mortal.ts';
import { makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { indexDifferences, openNodeIndex, staleGroups } from '../../support/redis-index.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';
import { seedDevices } from '../../support/seed.ts';
import { withPostgresStore } from '../../support/store.ts';
import { upkeepOf } from '../../support/upkeep.ts';

const MINUTE_MS = 60_000;
const DEVICES = 2_500;

interface PushTo {
  readonly appIds: readonly number[];
  readonly sendAtMs?: number;
}

async function open({ sql }: Pick<Store, 'sql'>) {
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  const tenant = await addTenant(sql, 'acme');
  const { clientId, appId } = tenant;
  const staying = await insertApp(sql, { clientId, name: 'Staying', platformIds: [3] });
  const tagId = await makeTag(sql, clientId, { sourceId: 'news' });
  const ofBoth = await makeTag(sql, clientId, { appIds: [appId, staying] });
  const ofIt = await makeTag(sql, clientId, { appIds: [appId] });
  for (const seed of [
    { appId, platformId: 3, count: DEVICES },
    { appId, platformId: 15, count: 10 },
    { appId: staying, platformId: 3, count: 20 },
  ]) {
    await seedDevices(sql, { ...seed, tagIds: [tagId, ofBoth] });
  }
  // Rows like those of nodes that count an app's devices with tags.
  await sql`
    insert into tag_days (tag_id, app_id, platform_id, day, slot)
    values (0, ${appId}, 3, '2026-01-01', 0), (0, ${staying}, 3, '2026-01-01', 0)
    on conflict do nothing`;
  await sql`
    insert into app_parameters (app_id, platform_id, parameters) values (${appId}, 3, '{}'), (${staying}, 3, '{}')`;
  await sql`
    insert into credential_health (app_id, platform_id, checked_at) values (${appId}, 3, now()), (${staying}, 3, now())`;
  await sql`
    insert into moved_ordinals (app_id, platform_id, from_ordinal, to_ordinal)
    values (${appId}, 3, 1, 2), (${staying}, 3, 1, 2)`;
  return {
    ...tenant,
    staying,
    tagId,
    ofBoth,
    ofIt,
    async push({ appIds, sendAtMs }: PushTo): Promise<string> {
      const id = randomUUID();
      await insertNotifications(sql, [
        aNotification({
          id,
          clientId,
          audience: { anyTagIds: [tagId], allTagIds: [], noneTagIds: [] },
          sendAtMs: sendAtMs ?? null,
          scopes: appIds.map((id) => ({ appId: id, platformId: 3, isSimulated: false })),
        }),
      ]);
      await planDue(sql);
      return id;
    },
    /** Ends it like a send. */
    finish: (id: string) => sql`
      with done as (delete from chunks where notification_id = ${id}),
      counted as (
        insert into failure_reasons (notification_id, app_id, platform_id, reason, count)
        select notification_id, app_id, platform_id, 'Shutdown', 1 from notification_scopes where notification_id = ${id}
      )
      update notifications set finished_at = now(), is_end_listed = true, state = 'FINISHED', open_chunks = 0 where id = ${id}`,
    remove: () =>
      sql.begin(async (tx) => {
        await lockClient(tx, clientId);
        const app = await readApp(tx, clientId, appId);
        if (app !== null) await deleteApp(tx, clientId, app);
      }),
    scopesOf: async (id: string) =>
      (await readStatus(sql, clientId, id))?.map((row) => row.appId) ?? null,
  };
}

type Scene = Awaited<ReturnType<typeof open>>;

/** Rows by table that name the app. */
async function rowsOf(sql: SqlPool, appId: number): Promise<Readonly<Record<string, number>>> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'app_id' order by 1`;
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await sql<{ count: number }[]>`
      select count(*) from ${sql(name)} where app_id = ${appId}`;
    if ((row?.count ?? 0) > 0) counts[name] = row?.count ?? 0;
  }
  return counts;
}

/** All rows of the app are gone, and those of the other one are unchanged. */
async function checkErased(t: Test, sql: SqlPool, scene: Scene, before: object): Promise<void> {
  const { appId, staying, tagId, ofBoth, ofIt } = scene;
  t.same(await rowsOf(sql, appId), {}, 'no table names it');
  t.same(await rowsOf(sql, staying), before, 'the other app is as it was');
  const tags = await sql`
    select id, app_ids as "appIds" from tags where id in ${sql([tagId, ofBoth, ofIt])} order by id`;
  t.same(
    [...tags],
    [
      { id: tagId, appIds: null },
      { id: ofBoth, appIds: [staying] },
      { id: ofIt, appIds: [] },
    ],
  );
}

await onEachStore(t, {
  'gone at once; its devices, its jobs, and after five minutes the rest': async (t, store) => {
    const { sql } = store;
    const scene = await open(store);
    const { appId, staying, push, finish, remove, scopesOf } = scene;
    const own = await push({ appIds: [appId] });
    const shared = await push({ appIds: [appId, staying] });
    for (const job of [own, shared]) await finish(job);
    const later = await push({ appIds: [appId, staying], sendAtMs: Date.now() + 86_400_000 });
    const before = await rowsOf(sql, staying);
    await remove();
    const gone = await rowsOf(sql, appId);
    for (const table of ['credentials', 'app_platforms', 'app_parameters', 'credential_health']) {
      t.notOk(table in gone, table);
    }
    t.equal(gone['devices'], DEVICES + 10);

    const node = upkeepOf(sql, new AppDeletions(NO_FEED));
    const [deletion] = await listAppDeletions(sql, 0, 10);
    const deletedAtMs = deletion?.deletedAtMs ?? 0;
    await node.run(deletedAtMs + 1_000);
    const left = await rowsOf(sql, appId);
    t.notOk('devices' in left);
    t.notOk('notification_scopes' in left);
    t.equal(await scopesOf(own), null, 'it was for this app only');
    t.same(await scopesOf(shared), [staying]);
    t.same(await scopesOf(later), [staying], 'it will not reach it');
    t.ok('app_deletions' in left, 'somebody may still have found it alive');

    // A push and a device of somebody who still knew it.
    const late = await push({ appIds: [staying, appId] });
    await finish(late);
    await sql`
      insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
      values (${appId}, 3, 9000, gen_random_uuid(), 'late', now())`;
    await node.run(deletedAtMs + 4 * MINUTE_MS);
    t.ok('app_deletions' in (await rowsOf(sql, appId)));
    for (let run = 0; run < 3; run += 1) await node.run(deletedAtMs + (6 + run) * MINUTE_MS);
    t.same(await scopesOf(late), [staying]);
    await checkErased(t, sql, scene, {
      ...before,
      notification_scopes: 3,
      failure_reasons: 2,
    });
  },

  'nodes that die at any statement: the next one goes on': async (t, store) => {
    const { sql } = store;
    const scene = await open(store);
    const { appId, staying, push, finish, remove } = scene;
    for (const appIds of [[appId], [appId, staying]]) await finish(await push({ appIds }));
    const before = await rowsOf(sql, staying);
    await remove();
    const nowMs = Date.now() + 60 * MINUTE_MS;
    let deaths = 0;
    for (let statements = 0; 'app_deletions' in (await rowsOf(sql, appId)); statements += 1) {
      const node = upkeepOf(mortal(sql, statements), new AppDeletions(NO_FEED));
      await node.run(nowMs).catch((error: unknown) => {
        t.match(error, { message: 'killed' });
        deaths += 1;
      });
    }
    t.ok(deaths > 10, `${deaths} deaths`);
    await checkErased(t, sql, scene, before);
    await upkeepOf(sql, new AppDeletions(NO_FEED)).run(nowMs);
    t.same(await rowsOf(sql, staying), before, 'again, it changes nothing');
  },

  'a job under way keeps the app until it has ended': async (t, store) => {
    const { sql } = store;
    const { appId, clientId, staying, push, finish, remove, scopesOf } = await open(store);
    const job = await push({ appIds: [appId, staying] });
    await changeState(sql, clientId, job, null, 'pause');
    await remove();
    const node = upkeepOf(sql, new AppDeletions(NO_FEED));
    const startMs = Date.now() + 10 * MINUTE_MS;
    for (let run = 0; run < 3; run += 1) await node.run(startMs + run * 2 * MINUTE_MS);
    t.same(await scopesOf(job), [appId, staying]);
    t.notOk('devices' in (await rowsOf(sql, appId)), 'its devices are gone');
    t.ok('app_deletions' in (await rowsOf(sql, appId)));
    await finish(job);
    for (let run = 3; run < 6; run += 1) await node.run(startMs + run * 2 * MINUTE_MS);
    t.same(await scopesOf(job), [staying]);
    t.same(await rowsOf(sql, appId), {});
  },

  'a job that has ended keeps the app until it is counted by day': async (t, store) => {
    const { sql } = store;
    const { appId, staying, push, finish, remove, scopesOf } = await open(store);
    const job = await push({ appIds: [appId, staying] });
    await finish(job);
    await sql`insert into ended_notifications (notification_id) values (${job})`;
    await remove();
    const startMs = Date.now() + 10 * MINUTE_MS;
    const node = upkeepOf(sql, new AppDeletions(NO_FEED));
    await node.run(startMs);
    t.same(await scopesOf(job), [appId, staying]);
    await sql`delete from ended_notifications`;
    await node.run(startMs + 2 * MINUTE_MS);
    t.same(await scopesOf(job), [staying]);
  },

  'the condemned devices of a job, and its reach, go a piece at a time': async (t, store) => {
    const { sql } = store;
    const { appId, clientId, staying, push, finish, remove, scopesOf } = await open(store);
    const job = await push({ appIds: [appId, staying] });
    await finish(job);
    await sql`
      insert into condemned_devices (notification_id, app_id, platform_id, ordinal, registered_before, is_refusal)
      select ${job}, app, 3, ordinal, now(), false
      from unnest(${[appId, staying]}::integer[]) as app, generate_series(1, 7) as ordinal`;
    await sql`
      insert into push_reach (notification_id, app_id, platform_id, group_number, words)
      select ${job}, app, 3, number, '' from unnest(${[appId, staying]}::integer[]) as app, generate_series(1, 4) as number`;
    await remove();
    const [deletion] = await listAppDeletions(sql, 0, 10);
    if (deletion === undefined) throw new Error('the app was not deleted');
    const condemned = async () => {
      const rows = await sql<{ appId: number }[]>`select app_id as "appId" from condemned_devices`;
      return [appId, staying].map((app) => rows.filter((row) => row.appId === app).length);
    };
    const groups = async () => {
      const rows = await sql<{ appId: number }[]>`select app_id as "appId" from push_reach`;
      return [appId, staying].map((app) => rows.filter((row) => row.appId === app).length);
    };
    const limits = { jobs: 10, rows: 3 };
    const none = '00000000-0000-0000-0000-000000000000';
    for (const left of [4, 1]) {
      t.same(await eraseFromJobs(sql, deletion, none, limits), { lastId: none, left: 0 });
      t.same(await condemned(), [left, 7]);
      t.same(await scopesOf(job), [appId, staying], 'it is looked at again');
    }
    t.same(await eraseFromJobs(sql, deletion, none, limits), { lastId: none, left: 0 });
    t.same(
      [await condemned(), await groups()],
      [
        [0, 7],
        [1, 4],
      ],
    );
    t.same(await eraseFromJobs(sql, deletion, none, limits), { lastId: null, left: 0 });
    t.same(
      [await condemned(), await groups()],
      [
        [0, 7],
        [0, 4],
      ],
    );
    t.same(await scopesOf(job), [staying]);

    for (let piece = 0; piece < 2; piece += 1) {
      t.equal(await eraseEndedJobs(sql, { clientId, deletedAtMs: 0 }, limits), true);
    }
    t.same(await condemned(), [0, 1]);
    t.equal(await eraseEndedJobs(sql, { clientId, deletedAtMs: 0 }, limits), true);
    t.same(
      [await condemned(), await groups()],
      [
        [0, 0],
        [0, 1],
      ],
    );
    t.same(await scopesOf(job), [staying]);
    t.equal(await eraseEndedJobs(sql, { clientId, deletedAtMs: 0 }, limits), false);
    t.equal(await scopesOf(job), null);
  },

  'many deleted apps take turns': async (t, store) => {
    const { sql } = store;
    const { clientId, tagId } = await open(store);
    const appIds: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      const appId = await insertApp(sql, { clientId, name: `${n}`, platformIds: [3] });
      appIds.push(appId);
      await seedDevices(sql, { appId, platformId: 3, tagIds: [tagId], count: 3_000 });
      const app = await readApp(sql, clientId, appId);
      if (app !== null) await sql.begin((tx) => deleteApp(tx, clientId, app));
    }
    const node = upkeepOf(sql, new AppDeletions(NO_FEED, 8));
    const left = async () => {
      const counts: number[] = [];
      for (const appId of appIds) counts.push((await rowsOf(sql, appId))['devices'] ?? 0);
      return counts;
    };
    for (let run = 0; run < 5; run += 1) await node.run(Date.now());
    t.same(await left(), [0, 0, 0, 0, 0]);
    for (let run = 0; run < 10; run += 1) await node.run(Date.now() + 60 * MINUTE_MS);
    t.same([...(await listAppDeletions(sql, 0, 10))], []);
  },

  'a registration that still finds the app does no harm to others': async (t, store) => {
    const { sql } = store;
    const { appId, clientId, slug, staying, tagId, remove } = await open(store);
    const api = makeAppApi(store);
    t.teardown(() => api.registration.drain());
    const caller = {
      role: 'api-user',
      clientId,
      clientSlug: slug,
      userName: 'x',
      method: 'bearer',
    } as const;
    const reg = (app: number, deviceId: string) =>
      api.call('reg', { ...caller, appId: app }, { appId: app, platformId: 3, deviceId, tagId });
    const known = 'ab'.repeat(32);
    t.equal((await reg(appId, known)).status, 200);
    await api.catalogue.fresh(clientId);
    await remove();
    const answers = await Promise.all([
      ...['c', 'd', 'e'].map((digit) => reg(staying, digit.repeat(64))),
      reg(appId, known),
      reg(appId, 'f'.repeat(64)),
    ]);
    t.same(
      answers.slice(0, 3).map(({ status, body }) => `${status} ${String(body)}`),
      ['200 OK', '200 OK', '200 OK'],
    );
    const [row] = await sql`select count(*) from devices where app_id = ${staying}`;
    t.same(row, { count: 23 });
  },
});

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const redis = await startRedis(t);
    const address = { kind: 'single', url: redis.url } as const;
    const { client, name, feed, repairs } = await openNodeIndex(t, sql, address);
    const scene = await open(store);
    const { appId, staying, remove } = scene;
    const groups = [appId, staying].map((id) => ({ appId: id, platformId: 3, groupNumber: 0 }));
    repairs.ask([...groups, { appId, platformId: 15, groupNumber: 0 }]);
    await until('the index is there', async () =>
      (await staleGroups(sql, client, name.current)).length === 0 ? true : null,
    );
    await remove();
    const node = upkeepOf(sql, new AppDeletions(feed));
    await node.run(Date.now());
    t.same(await indexDifferences(sql, client, name.current), [], 'the index has what is left');
    t.same(await staleGroups(sql, client, name.current), []);
    for (let run = 1; run < 4; run += 1) await node.run(Date.now() + run * 10 * MINUTE_MS);
    t.same(await rowsOf(sql, appId), {});
    const keys = await client.keys(`*{${appId}.*`);
    t.same(keys, [], 'Redis keeps nothing of it');
    t.equal((await client.keys(`*{${staying}.*`)).length > 0, true);
  }),
);
