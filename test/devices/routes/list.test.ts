import t from 'tap';
import { makeAppApi } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

await onEachStore(t, {
  'list answers tag objects by id, without expired, deleted and disconnected ones': async (
    t,
    store,
  ) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const plain = await tenant.makeTag({ name: 'Plain', optionalParameters: {} });
    const [expiring = 0, deleted = 0, leaving = 0] = await tenant.makeTags(3);
    const full = await tenant.makeTag({
      name: 'Full',
      sourceId: 'full',
      optionalParameters: { visible: 'false' },
    });
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    const tagId = [full, leaving, deleted, expiring, plain];
    await api.call('reg', tenant.caller, { ...device, tagId });
    await store.sql`update tags set expires_at_ms = 1 where id = ${expiring}`;
    await store.sql`update tags set app_ids = '{}' where id = ${leaving}`;
    await tenant.deleteTag(deleted);
    const response = await api.call('list', tenant.caller, device);
    t.match(response, { status: 200, headers: { 'Content-Type': 'application/json' } });
    t.equal(
      response.body,
      JSON.stringify([
        { id: plain, name: 'Plain' },
        { id: full, name: 'Full', sourceId: 'full', tagOptionalParameters: { visible: 'false' } },
      ]),
    );
  },

  'an unknown device has no tags; bad parameters are 400, a foreign app 403': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const other = await makeTenant(store.sql, 'other');
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    t.match(await api.call('list', tenant.caller, device), { status: 200, body: '[]' });
    for (const [wrong, path] of [
      [{ appId: 'x' }, 'appId'],
      [{ appId: null }, 'appId'],
      [{ platformId: 'x' }, 'platformId'],
      [{ platformId: 7 }, 'platformId'],
      [{ deviceId: '' }, 'deviceId'],
      [{ deviceId: 5 }, 'deviceId'],
    ] as const) {
      const response = await api.call('list', tenant.caller, { ...device, ...wrong });
      t.match(response, { status: 400, headers: { 'Content-Type': 'application/problem+json' } });
      t.match(JSON.parse(String(response.body)), { errors: [{ path }], requestId: 'request-1' });
    }
    const nothing = await api.call('list', tenant.caller, {});
    t.same(
      JSON.parse(String(nothing.body)).errors.map(({ path }: { path: string }) => path),
      ['appId', 'platformId', 'deviceId'],
      'every fault is named',
    );
    for (const body of ['no json', '', '[]', { ...device, padding: 'x'.repeat(65_536) }]) {
      t.equal((await api.call('list', tenant.caller, body)).status, 400);
    }
    for (const appId of [other.appId, 999_999]) {
      t.equal((await api.call('list', tenant.caller, { ...device, appId })).status, 403);
    }
  },
});
