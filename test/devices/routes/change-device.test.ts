import { gzipSync } from 'node:zlib';
import t from 'tap';
import { makeAppApi } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

await onEachStore(t, {
  'always 200 text/plain OK; what was ignored is named and counted': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const other = await makeTenant(store.sql, 'other');
    const tag = await tenant.makeTag();
    const foreign = await other.makeTag({ sourceId: 'foreign' });
    const good = { appId: tenant.appId, platformId: 3, deviceId: 'ab', tagId: tag };
    const cases: readonly (readonly [unknown, string | undefined])[] = [
      [good, undefined],
      [{ ...good, unknownField: 1 }, 'unknownField'],
      [{ ...good, tagId: 'x', b: 1, a: 1 }, 'tagId, b, a'],
      ['no json', 'body'],
      ['', 'body'],
      [[good], 'body'],
      [{ ...good, padding: 'x'.repeat(65_536) }, 'body'],
      [{}, 'appId, platformId, deviceId'],
      [{ ...good, appId: other.appId }, 'appId'],
      [{ ...good, appId: 999_999 }, 'appId'],
      [{ ...good, platformId: 7 }, 'platformId'],
      [{ ...good, platformId: 'ios' }, 'platformId'],
      [{ ...good, deviceId: 12 }, 'deviceId'],
      [{ ...good, deviceId: 'a\0b', tagId: 'x' }, 'deviceId, tagId'],
      [{ ...good, tagId: [tag, foreign] }, 'tagId'],
      [{ ...good, tagSourceId: 'foreign' }, 'tagSourceId'],
      [{ ...good, tagId: Array.from({ length: 1_001 }, () => tag) }, 'tagId'],
      [{ ...good, appVersion: 1 }, 'appVersion'],
    ];
    for (const endpoint of ['reg', 'ureg', 'set']) {
      const api = makeAppApi(store);
      const named: string[] = [];
      for (const [body, ignored] of cases) {
        const response = await api.call(endpoint, tenant.caller, body);
        t.match(response, { status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'OK' });
        t.equal(response.headers?.['Tagcast-Ignored'], ignored, `${endpoint} ignored ${ignored}`);
        named.push(...(ignored ?? '').split(', ').filter((name) => name !== ''));
      }
      const unknown: readonly string[] = ['unknownField', 'b', 'a'];
      t.same(
        api.ignored,
        named.map((name) => `${endpoint} ${unknown.includes(name) ? 'unknown' : name}`),
      );
    }
  },

  'a byte order mark is skipped, and a compressed body named': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tag = await tenant.makeTag();
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 3, deviceId: 'ab' };
    const text = JSON.stringify({ ...device, tagId: tag });
    const ignored = async (body: Buffer, coding = '') => {
      const header = (name: string) => (name === 'content-encoding' ? coding : '');
      const answer = await api.get('/push-api/reg', tenant.caller, { body, header });
      t.match(answer, { status: 200, body: 'OK' });
      return answer.headers?.['Tagcast-Ignored'];
    };
    t.equal(await ignored(gzipSync(text), 'gzip'), 'body, content-encoding');
    t.equal(await ignored(gzipSync(text)), 'body');
    t.equal(await ignored(Buffer.from('{'), 'gzip'), 'body');
    const listed = async () => String((await api.call('list', tenant.caller, device)).body);
    t.equal(await listed(), '[]');
    t.equal(await ignored(Buffer.from(`\u{feff}${text}`)), undefined);
    t.match(await listed(), `"id":${tag}`);
    const unread = await api.call('list', tenant.caller, gzipSync(JSON.stringify(device)));
    t.equal(unread.status, 400);
    t.match(String(unread.body), /in UTF-8 and not compressed/);
  },

  'a request with an invalid device, platform, app or too many tags changes nothing': async (
    t,
    store,
  ) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const other = await makeTenant(store.sql, 'other');
    const tag = await tenant.makeTag();
    const api = makeAppApi(store);
    const good = { appId: tenant.appId, platformId: 3, deviceId: 'ab', tagId: tag };
    for (const wrong of [
      { appId: other.appId },
      { platformId: 7 },
      { deviceId: '' },
      { tagId: Array.from({ length: 1_001 }, () => tag) },
    ]) {
      await api.call('reg', tenant.caller, { ...good, ...wrong });
    }
    t.match([...(await store.sql`select count(*)::int as count from devices`)], [{ count: 0 }]);
  },

  'appId and platformId may be strings; APNs tokens are one in either case': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tag = await tenant.makeTag();
    const api = makeAppApi(store);
    const scope = { appId: String(tenant.appId), platformId: '3' };
    await api.call('reg', tenant.caller, { ...scope, deviceId: 'AABB', tagId: String(tag) });
    const listed = await api.call('list', tenant.caller, { ...scope, deviceId: 'aabb' });
    t.match(JSON.parse(String(listed.body)), [{ id: tag }]);
    const fcm = { ...scope, platformId: '15' };
    await api.call('reg', tenant.caller, { ...fcm, deviceId: 'AABB', tagId: tag });
    t.equal((await api.call('list', tenant.caller, { ...fcm, deviceId: 'aabb' })).body, '[]');
  },

  'a tag made on another node a moment ago is known': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 3, deviceId: 'ab' };
    await api.call('reg', tenant.caller, { ...device, tagId: [] });
    for (const endpoint of ['reg', 'set', 'reg']) {
      const sourceId = `new for ${endpoint} ${Math.random()}`;
      const tag = await tenant.makeTag({ sourceId });
      const response = await api.call(endpoint, tenant.caller, {
        ...device,
        tagSourceId: sourceId,
      });
      t.equal(response.headers?.['Tagcast-Ignored'], undefined);
      const listed = await api.call('list', tenant.caller, device);
      t.ok(JSON.parse(String(listed.body)).some(({ id }: { id: number }) => id === tag));
    }
    // Known to the snapshot, but not connected then.
    const late = await tenant.makeTag({ appIds: [] });
    await api.call('list', tenant.caller, device);
    await store.sql`update tags set app_ids = null where id = ${late}`;
    await store.sql`update clients set catalogue_version = catalogue_version + 1 where id = ${tenant.clientId}`;
    const response = await api.call('reg', tenant.caller, { ...device, tagId: late });
    t.equal(response.headers?.['Tagcast-Ignored'], undefined);
  },

  'overload, a full app and a missing database are never a false OK': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tag = await tenant.makeTag();
    const request = (deviceId: string) => ({
      appId: tenant.appId,
      platformId: 3,
      deviceId,
      tagId: tag,
    });
    const busy = makeAppApi(store, { inFlightMax: 1 });
    await busy.catalogue.recent(tenant.clientId);
    const answers = await Promise.all(
      ['a1', 'a2', 'a3'].map((deviceId) => busy.call('reg', tenant.caller, request(deviceId))),
    );
    t.same(
      answers.map(({ status }) => status),
      [200, 503, 503],
    );
    t.equal(answers[1]?.headers?.['Retry-After'], '1');
    t.same([...busy.results].sort(), ['reg committed', 'reg overloaded', 'reg overloaded']);
    t.match(answers[1]?.headers, { 'Content-Type': 'application/problem+json' });

    const full = makeAppApi(store, { devicesPerAppMax: 1 });
    t.match(await full.call('reg', tenant.caller, request('b1')), {
      status: 429,
      headers: { 'Retry-After': '60' },
    });

    const broken = makeAppApi(store);
    await broken.catalogue.recent(tenant.clientId);
    await store.sql`alter table devices rename to devices_gone`;
    const answer = await broken.call('reg', tenant.caller, request('c1'));
    await store.sql`alter table devices_gone rename to devices`;
    t.match(answer, { status: 503, headers: { 'Retry-After': '1' } });
  },

  'one address registers so often a second, another one is not affected': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const api = makeAppApi(store, { perSecond: 2 });
    const statuses: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      statuses.push((await api.call('ureg', tenant.caller, 'no json')).status);
    }
    t.same(statuses, [200, 200, 429]);
    const elsewhere = await api.get('/push-api/reg', tenant.caller, { address: '192.0.2.2' });
    t.equal(elsewhere.status, 200);
  },
});
