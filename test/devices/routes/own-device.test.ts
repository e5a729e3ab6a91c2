/** An app sees what is known of its device, and erases it; of no other app's. */

import t from 'tap';
import { makeAppApi } from '../../support/app-api.ts';
import { declareAttribute } from '../../support/attributes.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

await onEachStore(t, {
  'seen, erased, and gone for good': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const tagId = await tenant.makeTag({ name: 'News' });
    const { clientId } = tenant;
    await declareAttribute(sql, clientId, { name: 'adult', type: 'boolean', isPersonal: true });
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    const ask = (end: string, body: object) =>
      api.at(`/push-api/v3/:client/device${end}`, tenant.caller, { client: tenant.slug }, body);
    t.equal((await ask('', device)).status, 404);
    const attributes = { language: 'de', adult: false };
    await api.call('reg', tenant.caller, { ...device, tagId, attributes });
    const seen = await ask('', device);
    t.equal(seen.status, 200);
    const { registeredAt, lastSeenAt, ...known } = JSON.parse(String(seen.body));
    t.equal(registeredAt % 86_400_000, 0, 'the beginning of a day');
    t.ok(Math.abs(registeredAt - Date.now()) < 86_400_000 + 600_000);
    t.ok(Math.abs(lastSeenAt - Date.now()) < 600_000);
    t.same(known, { tags: [{ id: tagId, name: 'News' }], attributes });
    const [fresh] =
      await sql`select registered_on = (registered_at at time zone 'UTC')::date as today from devices`;
    t.same(fresh, { today: true });
    await sql`update devices set registered_on = '2026-01-02'`;
    const given = { registered: '2020-01-01', lastSeen: '2020-01-01', language: 'en' };
    const again = await api.call('reg', tenant.caller, { ...device, tagId, attributes: given });
    t.equal(
      again.headers?.['Tagcast-Ignored'],
      'attributes.registered, attributes.lastSeen',
      'an app does not set them',
    );
    const [kept] = await sql`select registered_on::text as day from devices`;
    t.same(kept, { day: '2026-01-02' });
    const since = JSON.parse(String((await ask('', device)).body));
    t.equal(since.registeredAt, Date.parse('2026-01-02'));
    t.ok(since.lastSeenAt >= lastSeenAt);
    await sql`update devices set registered_on = null`;
    t.match(
      JSON.parse(String((await ask('', device)).body)),
      { registeredAt: since.lastSeenAt, lastSeenAt: since.lastSeenAt },
      'of an import it is not known',
    );
    await api.call('set', tenant.caller, { ...device, tagId, attributes });
    await sql`delete from attributes`;
    t.match(JSON.parse(String((await ask('', device)).body)), { attributes: { language: 'de' } });
    for (let times = 0; times < 2; times += 1) {
      t.match(await ask('/erase', device), { status: 200, body: 'OK' });
    }
    t.equal((await ask('', device)).status, 404);
    const [left] = await sql`
      select (select count(*) from devices)::int as devices, (select count(*) from audit_entries)::int as audited`;
    t.same(left, { devices: 0, audited: 0 });
  },

  'not another app, nor another client, nor without a device': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const other = await makeTenant(sql, 'other');
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    const ask = async (client: string, body: object, by = api) => {
      const answer = await by.at(
        '/push-api/v3/:client/device/erase',
        tenant.caller,
        { client },
        body,
      );
      return answer.status;
    };
    t.equal(await ask('other', device), 403);
    t.equal(await ask('acme', { ...device, appId: other.appId }), 403);
    t.equal(await ask('acme', { ...device, deviceId: '' }), 400);
    t.equal(await ask('acme', { ...device, platformId: 99 }), 400);
    t.equal(await ask('acme', device), 200);
    const busy = makeAppApi(store, { perSecond: 0 });
    t.equal(await ask('acme', device, busy), 429, 'from one address');
  },
});
