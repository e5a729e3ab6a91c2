import t from 'tap';
import { eraseDevices } from '../../src/devices/erase-devices.ts';
import { ANY_TAG } from '../../src/statistics/record-changes.ts';
import { makeAppApi } from '../support/app-api.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { subscriptions } from '../support/subscriptions.ts';
import { makeTenant } from '../support/tenant.ts';

await onEachStore(t, {
  'erases devices with their subscriptions, and nobody else': async (t, { sql, ...store }) => {
    const tenant = await makeTenant(sql, 'acme');
    const tags = await tenant.makeTags(2);
    const api = makeAppApi({ sql, ...store });
    for (const deviceId of ['a', 'b', 'c']) {
      const device = { appId: tenant.appId, platformId: 15, deviceId };
      await api.call('reg', tenant.caller, { ...device, tagId: tags });
    }
    const devices = await sql<{ appId: number; platformId: number; ordinal: number; id: string }[]>`
      select app_id as "appId", platform_id as "platformId", ordinal, device_id as id from devices order by device_id`;
    const [a, b] = devices;
    if (a === undefined || b === undefined) throw new Error('no devices');
    const [before] = await sql<
      { version: number }[]
    >`select sum(version)::int as version from device_groups`;
    const nowMs = Date.now();
    const erased = await eraseDevices(sql, [
      { ...a, registeredBeforeMs: null },
      { ...a, registeredBeforeMs: nowMs + 60_000 },
      { ...b, registeredBeforeMs: nowMs - 60_000 },
      { appId: tenant.appId, platformId: 15, ordinal: 999_999, registeredBeforeMs: null },
    ]);
    t.equal(erased.count, 1, 'one; the other registered later, the third is nobody');
    t.same(
      erased.changes.map(({ tokens, removed }) => [[...tokens], [...removed.values()].flat()]),
      [[[[a.ordinal, null]], [a.ordinal, a.ordinal]]],
      'what an index has to hear: its token and both of its tags',
    );
    t.same(
      (await sql`select device_id as id from devices order by 1`).map((row) => row['id']),
      ['b', 'c'],
    );
    const [left] = await sql`select count(*)::int as count from ${subscriptions(sql)}`;
    t.same(left, { count: 4 });
    const [after] = await sql<
      { version: number }[]
    >`select sum(version)::int as version from device_groups`;
    t.ok((after?.version ?? 0) > (before?.version ?? 0), 'the group was raised');
    const [days] =
      await sql`select sum(unsubscribed)::int as lost from tag_days where tag_id <> ${ANY_TAG}`;
    t.same(days, { lost: 2 });
    const [subscribers] = await sql`
      select sum(unsubscribed)::int as lost from tag_days where tag_id = ${ANY_TAG}`;
    t.same(subscribers, { lost: 1 });
    t.same(await eraseDevices(sql, []), { count: 0, changes: [] });
  },

  'while registrations go on nobody deadlocks, and nothing is left behind': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tags = await tenant.makeTags(3);
    const api = makeAppApi(store);
    const deviceIds = Array.from({ length: 50 }, (_, index) => `d${index}`);
    const register = () =>
      Promise.all(
        deviceIds.map((deviceId) =>
          api.call('reg', tenant.caller, {
            appId: tenant.appId,
            platformId: 15,
            deviceId,
            tagId: tags,
          }),
        ),
      );
    const eraseAll = async () => {
      const devices = await store.sql<{ appId: number; platformId: number; ordinal: number }[]>`
        select app_id as "appId", platform_id as "platformId", ordinal from devices`;
      await eraseDevices(
        store.sql,
        devices.map((device) => ({ ...device, registeredBeforeMs: null })),
      );
    };
    for (let round = 0; round < 10; round += 1) {
      const [answers] = await Promise.all([register(), eraseAll(), eraseAll()]);
      t.same(new Set(answers.map(({ status }) => status)), new Set([200]));
    }
    await register();
    const [row] = await store.sql`
      select (select count(*)::int from devices) as devices, (select count(*)::int from ${subscriptions(store.sql)}) as subscriptions,
        (select sum(subscribed - unsubscribed)::int from tag_days where tag_id <> ${ANY_TAG}) as counted,
        (select sum(subscribed - unsubscribed)::int from tag_days where tag_id = ${ANY_TAG}) as subscribers`;
    t.same(row, { devices: 50, subscriptions: 150, counted: 150, subscribers: 50 });
  },
});
