import t from 'tap';
import { makeAppApi } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

const idsOf = (response: { readonly body: string | Buffer }): readonly number[] =>
  JSON.parse(String(response.body)).map(({ id }: { id: number }) => id);

await onEachStore(t, {
  'reg subscribes; tags the device has already, and its other tags, are not affected': async (
    t,
    store,
  ) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const [a = 0, b = 0, c = 0] = await tenant.makeTags(3);
    const d = await tenant.makeTag({ sourceId: 'd' });
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    await api.call('reg', tenant.caller, { ...device, tagId: [a, b] });
    await api.call('reg', tenant.caller, { ...device, tagId: [b, c] });
    t.same(idsOf(await api.call('list', tenant.caller, device)), [a, b, c]);
    await api.call('reg', tenant.caller, { ...device, tagId: a, tagSourceId: ['d'] });
    t.same(idsOf(await api.call('list', tenant.caller, device)), [a, b, c, d], 'the union');
  },

  'reg remembers appVersion and the time': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tag = await tenant.makeTag();
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x', tagId: tag };
    const row = async () => {
      const [device] = await store.sql<{ version: string | null; at: Date }[]>`
        select app_version as version, registered_at as at from devices`;
      return device;
    };
    await api.call('reg', tenant.caller, { ...device, appVersion: 'webclient-3.0' });
    const first = await row();
    t.equal(first?.version, 'webclient-3.0');
    await store.sql`update devices set registered_at = registered_at - interval '1 day'`;
    await api.call('reg', tenant.caller, device);
    const second = await row();
    t.equal(second?.version, 'webclient-3.0', 'a request without a version keeps the last one');
    t.ok(Number(second?.at) >= Number(first?.at));
  },

  'entries that name no known, connected, unexpired tag are ignored': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const other = await makeTenant(store.sql, 'other');
    const live = await tenant.makeTag();
    const useless = [
      await tenant.makeTag({ expiresAtMs: Date.now() - 1 }),
      await tenant.makeTag({ appIds: [] }),
      await other.makeTag(),
      999_999,
    ];
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    const response = await api.call('reg', tenant.caller, { ...device, tagId: [...useless, live] });
    t.equal(response.headers?.['Tagcast-Ignored'], 'tagId');
    t.same(idsOf(await api.call('list', tenant.caller, device)), [live]);
  },

  'what the public browser SDK sends': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const [a = 0, b = 0] = await tenant.makeTags(2);
    const api = makeAppApi(store);
    const app = { appId: String(tenant.appId), platformId: '15' };
    const old = { ...app, deviceId: 'old token' };
    await api.call('reg', tenant.caller, { ...old, tagId: [''], appVersion: 'webclient-3.0' });
    t.same(idsOf(await api.call('list', tenant.caller, old)), [], 'no default tags configured');
    await api.call('reg', tenant.caller, { ...old, tagId: [a, b] });
    await api.call('ureg', tenant.caller, { ...old, tagId: [] });
    const listed = JSON.parse(String((await api.call('list', tenant.caller, old)).body));
    t.same(
      listed.map(({ id }: { id: number }) => id),
      [a, b],
      'cancel all of nothing',
    );
    // The token changes: the tags as `list` gave them, off the old device and onto the new one.
    const fresh = { ...app, deviceId: 'new token' };
    await api.call('ureg', tenant.caller, { ...old, tagId: listed });
    await api.call('reg', tenant.caller, { ...fresh, tagId: listed });
    t.same(idsOf(await api.call('list', tenant.caller, old)), []);
    t.same(idsOf(await api.call('list', tenant.caller, fresh)), [a, b]);
    // A checkbox.
    await api.call('ureg', tenant.caller, { ...fresh, tagId: String(a) });
    t.same(idsOf(await api.call('list', tenant.caller, fresh)), [b]);
  },
});
