import t from 'tap';
import { makeAppApi } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { subscriptions } from '../../support/subscriptions.ts';
import { makeTenant } from '../../support/tenant.ts';

await onEachStore(t, {
  'set replaces all tags; none given, or none known, is ignored': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const [a = 0, b = 0, c = 0] = await tenant.makeTags(3);
    const d = await tenant.makeTag({ sourceId: 'd' });
    const expired = await tenant.makeTag({ expiresAtMs: Date.now() - 1 });
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    const list = async () =>
      JSON.parse(String((await api.call('list', tenant.caller, device)).body)).map(
        ({ id }: { id: number }) => id,
      );
    await api.call('set', tenant.caller, { ...device, tagId: [a, b] });
    t.same(await list(), [a, b], 'a new device');
    await api.call('set', tenant.caller, { ...device, tagId: [b, c, 999_999], tagSourceId: 'd' });
    t.same(await list(), [b, c, d]);
    await api.call('set', tenant.caller, device);
    for (const nothing of [null, [], '', [''], 999_999, 'x', expired]) {
      const response = await api.call('set', tenant.caller, { ...device, tagId: nothing });
      t.match(response, { status: 200, headers: { 'Tagcast-Ignored': 'tagId' }, body: 'OK' });
    }
    t.same(await list(), [b, c, d]);
  },

  'the removing half of set finds expired tags': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const [a = 0, expiring = 0] = await tenant.makeTags(2);
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    await api.call('reg', tenant.caller, { ...device, tagId: [a, expiring] });
    await store.sql`update tags set expires_at_ms = 1 where id = ${expiring}`;
    await store.sql`update clients set catalogue_version = catalogue_version + 1`;
    await api.call('set', tenant.caller, { ...device, tagId: [a, expiring] });
    t.same(
      [...(await store.sql`select tag_id as id from ${subscriptions(store.sql)}`)],
      [{ id: a }],
    );
  },
});
