import t from 'tap';
import { makeAppApi } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { subscriptions } from '../../support/subscriptions.ts';
import { makeTenant } from '../../support/tenant.ts';

await onEachStore(t, {
  'ureg unsubscribes from those tags; with neither given from all': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const [a = 0, b = 0, c = 0] = await tenant.makeTags(3);
    const d = await tenant.makeTag({ sourceId: 'd' });
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    const list = async () =>
      JSON.parse(String((await api.call('list', tenant.caller, device)).body)).map(
        ({ id }: { id: number }) => id,
      );
    await api.call('reg', tenant.caller, { ...device, tagId: [a, b, c, d] });
    await api.call('ureg', tenant.caller, { ...device, tagId: a, tagSourceId: 'd' });
    t.same(await list(), [b, c]);
    for (const nothing of [null, [], '', [''], 999_999, ['x']]) {
      await api.call('ureg', tenant.caller, { ...device, tagId: nothing });
      await api.call('ureg', tenant.caller, { ...device, tagSourceId: nothing });
    }
    t.same(await list(), [b, c], 'given, and naming no tag, is not "none given"');
    await api.call('ureg', tenant.caller, device);
    t.same(await list(), []);
    const [kept] = await store.sql`select unsubscribed_at from devices`;
    t.ok(kept?.['unsubscribed_at'], 'the device is kept');
  },

  'ureg finds expired and disconnected tags: who opts out stays out': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const [expiring = 0, leaving = 0] = await tenant.makeTags(2);
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    await api.call('reg', tenant.caller, { ...device, tagId: [expiring, leaving] });
    await store.sql`update tags set expires_at_ms = 1 where id = ${expiring}`;
    await store.sql`update tags set app_ids = '{}' where id = ${leaving}`;
    await store.sql`update clients set catalogue_version = catalogue_version + 1`;
    t.equal((await api.call('list', tenant.caller, device)).body, '[]', 'expired are left out');
    const response = await api.call('ureg', tenant.caller, {
      ...device,
      tagId: [expiring, leaving],
    });
    t.equal(response.headers?.['Tagcast-Ignored'], undefined);
    t.same([...(await store.sql`select tag_id from ${subscriptions(store.sql)}`)], []);
  },

  'ureg with tags under a name that nobody knows removes nothing, and says so': async (
    t,
    store,
  ) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const [a = 0, b = 0] = await tenant.makeTags(2);
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    const remaining = async () => {
      const rows = await store.sql`select tag_id from ${subscriptions(store.sql)} order by tag_id`;
      return rows.map((row) => row['tag_id']);
    };
    await api.call('reg', tenant.caller, { ...device, tagId: [a, b] });
    for (const name of ['tagIds', 'tags', 'Tag_ID', 'tag-source-ids', 'TAGSOURCEID', 'tag']) {
      const response = await api.call('ureg', tenant.caller, { ...device, [name]: [a] });
      t.equal(response.body, 'OK', name);
      t.equal(response.headers?.['Tagcast-Ignored'], name);
      t.same(await remaining(), [a, b], name);
    }
    await api.call('ureg', tenant.caller, { ...device, tagId: a, tags: [b] });
    t.same(await remaining(), [b], 'beside tagId it is an unknown field as any other');
    const response = await api.call('ureg', tenant.caller, { ...device, locale: 'de' });
    t.equal(response.headers?.['Tagcast-Ignored'], 'locale');
    t.same(await remaining(), [], 'a field that is not meant as tags hinders nothing');
  },

  'ureg of a device that nobody knows is OK and makes none': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'nobody' };
    t.equal((await api.call('ureg', tenant.caller, device)).body, 'OK');
    t.same([...(await store.sql`select device_id from devices`)], []);
  },
});
