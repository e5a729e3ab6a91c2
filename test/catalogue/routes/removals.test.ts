/**
 * Tags that devices have still to lose: shown while housekeeping takes them off, and no longer when
 * it is done. On every store.
 */

import type { Test } from 'tap';
import t from 'tap';
import { Housekeeping } from '../../../src/app/upkeep/housekeeping.ts';
import { appRoutes } from '../../../src/catalogue/routes/apps.ts';
import { removalsRoute } from '../../../src/catalogue/routes/removals.ts';
import { tagResourceRoutes } from '../../../src/catalogue/routes/tag-resources.ts';
import { insertApp } from '../../../src/catalogue/sql/insert-app.ts';
import type { Store } from '../../../src/database/store.ts';
import { deletedTags, removeTags } from '../../../src/devices/sql/unwanted-tags.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { secrets } from '../../support/api.ts';
import { silent } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { openResources, pathsOf } from '../../support/resources.ts';
import { seedDevices } from '../../support/seed.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { subscriptions } from '../../support/subscriptions.ts';
import { upkeepOf } from '../../support/upkeep.ts';

const DAY_MS = 86_400_000;

async function open(t: Test, store: Store) {
  const { sql, patientReads } = store;
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  const housekeeping = new Housekeeping({
    journal: SILENT_JOURNAL,
    sql,
    feed: NO_FEED,
    log: silent,
    deviceRetentionMs: 30 * DAY_MS,
    notificationRetentionDays: 90,
    reachRetentionDays: 7,
  });
  const resources = await openResources(t, store, 'acme', [
    ...tagResourceRoutes({
      sql,
      patientReads,
      onDisconnected: (tagId) => housekeeping.unwantedTags.expectDisconnected(tagId),
      takeOff: (tagIds) => housekeeping.unwantedTags.takeOff(tagIds),
    }),
    ...appRoutes({
      sql,
      secrets,
      patientReads,
      takeOff: (tagIds) => housekeeping.unwantedTags.takeOff(tagIds),
    }),
    removalsRoute(patientReads),
  ]);
  const { ask, tenant } = resources;
  return {
    ...resources,
    housekeeping,
    otherApp: await insertApp(sql, { clientId: tenant.clientId, name: 'B', platformIds: [3] }),
    make: async (name: string): Promise<number> => (await ask('POST', 'tags', { name })).body.id,
    removals: async () => (await ask('GET', 'removals')).body,
    async tagsOf(appId: number): Promise<readonly number[]> {
      const rows = await sql<{ id: number }[]>`
        select distinct tag_id as id from ${subscriptions(sql)} where app_id = ${appId} order by 1`;
      return rows.map(({ id }) => id);
    },
  };
}

await onEachStore(t, {
  'a deleted tag: how many devices have it still, until none has': async (t, store) => {
    const { ask, make, removals, tagsOf, housekeeping, tenant } = await open(t, store);
    const [kept, gone, unused] = [await make('kept'), await make('gone'), await make('unused')];
    const { appId } = tenant;
    const tagIds = [kept, gone];
    await seedDevices(store.sql, { appId, platformId: 3, tagIds, count: 30 });
    await seedDevices(store.sql, { appId, platformId: 15, tagIds, count: 5 });
    t.same(await removals(), []);
    for (const id of [gone, unused]) t.equal((await ask('DELETE', `tags/${id}`)).status, 204);
    const shown = (apns: number, fcm: number) => [
      {
        tagId: gone,
        name: 'gone',
        devices: apns + fcm,
        devicesByApp: [
          { appId, platformId: 3, devices: apns },
          { appId, platformId: 15, devices: fcm },
        ],
      },
    ];
    const [told] = await removals();
    const { deletedAt, ...rest } = told;
    t.ok(Math.abs(deletedAt - Date.now()) < 600_000);
    t.same([rest], shown(30, 5));

    // A piece, as a run of housekeeping takes it; the next ones take the rest.
    const later = Date.now() + 1_000_000;
    const [group] = await deletedTags(store.sql, later, 100);
    if (group === undefined) throw new Error('nothing is to be removed');
    t.equal((await removeTags(store.sql, group, 12)).devices, 12);
    t.match(await removals(), shown(18, 5));
    await upkeepOf(store.sql, housekeeping.unwantedTags.deleted).run(later);
    t.same(await removals(), []);
    t.same(await tagsOf(appId), [kept]);
  },

  'a tag that is disconnected from an app is taken off its devices by the next run': async (
    t,
    store,
  ) => {
    const { ask, make, removals, tagsOf, housekeeping, tenant, otherApp } = await open(t, store);
    const [leaving, staying] = [await make('leaving'), await make('staying')];
    const tagIds = [leaving, staying];
    for (const appId of [tenant.appId, otherApp]) {
      await seedDevices(store.sql, { appId, platformId: 3, tagIds, count: 20 });
    }
    await housekeeping.run(Date.now());
    const patched = await ask('PATCH', `tags/${leaving}`, { appIds: [otherApp] });
    t.equal(patched.status, 200);
    t.same(await removals(), [
      {
        tagId: leaving,
        name: 'leaving',
        devices: 20,
        devicesByApp: [{ appId: tenant.appId, platformId: 3, devices: 20 }],
      },
    ]);
    // Long before the next sweep.
    await housekeeping.run(Date.now() + 10_000);
    t.same(await removals(), []);
    t.same(await tagsOf(tenant.appId), [staying]);
    t.same(await tagsOf(otherApp), tagIds, 'there it is connected');
  },

  'a tag that is connected again has none of the subscriptions from before': async (t, store) => {
    const { ask, make, removals, tagsOf, housekeeping, tenant, otherApp } = await open(t, store);
    const tagId = await make('coming and going');
    const { appId } = tenant;
    await seedDevices(store.sql, { appId, platformId: 3, tagIds: [tagId], count: 20 });
    await seedDevices(store.sql, { appId: otherApp, platformId: 3, tagIds: [tagId], count: 2 });
    const connect = (appIds: readonly number[] | null) => ask('PATCH', `tags/${tagId}`, { appIds });

    // Housekeeping has not come to it.
    t.equal((await connect([otherApp])).status, 200);
    t.equal((await connect([otherApp, appId])).status, 200);
    t.same(await tagsOf(appId), []);
    t.same(await tagsOf(otherApp), [tagId]);
    t.equal((await connect([appId])).status, 200);
    t.equal((await connect(null)).status, 200);
    t.same(await tagsOf(otherApp), []);

    // Goes through the app, like clients of the public service.
    await seedDevices(store.sql, { appId, platformId: 3, tagIds: [tagId], count: 20 });
    t.equal((await connect([otherApp])).status, 200);
    const update = { id: appId, platformId: 3, tags: [{ id: tagId }] };
    t.equal((await ask('POST', '../../app/update/acme', update)).status, 200);
    t.same(await tagsOf(appId), []);

    // A bulk operation still needs to know who has it.
    await seedDevices(store.sql, { appId, platformId: 3, tagIds: [tagId], count: 20 });
    await store.sql`
      insert into bulk_operations (client_id, user_name, action, subscribe_tag_ids, unsubscribe_tag_ids, member_of, total)
      values (${tenant.clientId}, 'test', 'subscribe', '{}', '{}', ${tagId}, 0)`;
    t.equal((await connect([otherApp])).status, 200);
    const refused = await connect(null);
    t.equal(refused.status, 409);
    t.match(refused.body, { detail: /is still being taken off its devices/ });
    t.equal((await removals()).length, 1);
    await store.sql`delete from bulk_operations`;
    await housekeeping.run(Date.now());
    t.same(await removals(), []);
    t.equal((await connect(null)).status, 200);
    t.same(await tagsOf(appId), []);
  },

  'by pages; another client has its own': async (t, store) => {
    const { ask, make, walk, tenant } = await open(t, store);
    const ids: number[] = [];
    for (let n = 0; n < 5; n += 1) ids.push(await make(`t${n}`));
    await seedDevices(store.sql, { appId: tenant.appId, platformId: 3, tagIds: ids, count: 2 });
    for (const id of ids) await ask('DELETE', `tags/${id}`);
    const told = (await walk('removals', 2)) as readonly { tagId: number }[];
    t.same(
      told.map(({ tagId }) => tagId),
      ids,
    );
    t.same(pathsOf(await ask('GET', 'removals?tag=1')), ['tag']);
    const other = await openResources(t, store, 'other', [removalsRoute(store.patientReads)]);
    t.same((await other.ask('GET', 'removals')).body, []);
  },
});
