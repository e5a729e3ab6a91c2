/** Attributes from apps: taken, ignored alone and named, and written only when new. */

import t from 'tap';
import type { Caller } from '../../src/domain/caller.ts';
import { makeAppApi } from '../support/app-api.ts';
import { declareAttribute, valuesOf } from '../support/attributes.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { makeTenant } from '../support/tenant.ts';

type Api = ReturnType<typeof makeAppApi>;

/** Calls an endpoint with more fields than the device's; answers what it ignored. */
const callerOf =
  (api: Api, caller: Caller, device: object) =>
  async (endpoint: string, more: object): Promise<string | undefined> => {
    const { status, headers } = await api.call(endpoint, caller, { ...device, ...more });
    if (status !== 200) throw new Error(`${endpoint} answered ${status}`);
    return headers?.['Tagcast-Ignored'];
  };

await onEachStore(t, {
  'given ones are set, null clears one, absent ones stay': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const tagId = await tenant.makeTag();
    const plan = await declareAttribute(sql, tenant.clientId, { name: 'plan', type: 'text' });
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    const call = callerOf(api, tenant.caller, device);

    const attributes = { language: 'de_CH', appVersion: '5.2.0', plan: 'gold' };
    t.equal(await call('reg', { tagId, attributes }), undefined);
    t.same(await valuesOf(sql, 'x'), { [-1]: 'de-CH', [-4]: '5.2', [plan]: 'gold' });
    t.equal(await call('reg', { tagId, attributes: { language: 'fr', plan: null } }), undefined);
    t.same(await valuesOf(sql, 'x'), { [-1]: 'fr', [-4]: '5.2' });
    t.equal(await call('set', { tagId, attributes: { country: 'ch' } }), undefined);
    t.same(await valuesOf(sql, 'x'), { [-1]: 'fr', [-3]: 'CH', [-4]: '5.2' });
    t.equal(await call('ureg', {}), undefined);
    t.same(await valuesOf(sql, 'x'), { [-1]: 'fr', [-3]: 'CH', [-4]: '5.2' });
    t.same(api.results.at(-1), 'ureg committed');
  },

  'a device without tags becomes known; set without tags stays ignored': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const api = makeAppApi(store);
    const call = callerOf(api, tenant.caller, {
      appId: tenant.appId,
      platformId: 15,
      deviceId: 'x',
    });
    t.equal(await call('reg', { attributes: { language: 'de' } }), 'tagId');
    t.same(await valuesOf(sql, 'x'), { [-1]: 'de' });
    t.equal(await call('set', { attributes: { language: 'fr' } }), 'tagId');
    t.same(await valuesOf(sql, 'x'), { [-1]: 'de' });
  },

  'what cannot be taken is ignored alone, and named': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const tagId = await tenant.makeTag();
    const otherApp = await tenant.makeApp();
    const declare = (name: string, type: string, more: object = {}) =>
      declareAttribute(sql, tenant.clientId, { name, type, ...more });
    await declare('plan', 'text', { setBy: 'server' });
    await declare('paper', 'text', { appIds: [otherApp] });
    const adult = await declare('adult', 'boolean');
    const foreign = await makeTenant(sql, 'other');
    await declareAttribute(sql, foreign.clientId, { name: 'theirs', type: 'text' });
    const api = makeAppApi(store);
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x' };
    const call = callerOf(api, tenant.caller, device);
    const attributes = {
      language: '+',
      timezone: '+02:00',
      plan: 'gold',
      paper: 'daily',
      theirs: 'x',
      nope: 'x',
      adult: true,
      appVersion: 5,
    };
    t.equal(
      await call('reg', { tagId, attributes }),
      'attributes.language, attributes.timezone, attributes.plan, attributes.paper, attributes.theirs, attributes.nope, attributes.appVersion',
    );
    t.same(await valuesOf(sql, 'x'), { [adult]: 'true' });
    t.equal(await call('reg', { tagId, attributes: 'gold' }), 'attributes');
    t.equal(await call('reg', { tagId, attributes: { 'a,b': 1 } }), 'attributes.a?b');
    const many = Object.fromEntries(Array.from({ length: 41 }, (_, at) => [`a${at}`, 1]));
    const named = await call('reg', { tagId, attributes: { language: 'de', ...many } });
    t.match(named, /attributes\.a39, attributes\.a40$/);
    t.match(await valuesOf(sql, 'x'), { [-1]: 'de' });
  },

  'the old field is the same; the inner one wins, and what is no version stays a text': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const api = makeAppApi(store);
    const tagId = await tenant.makeTag();
    const call = callerOf(api, tenant.caller, {
      appId: tenant.appId,
      platformId: 15,
      deviceId: 'x',
    });
    const row = async () => {
      const [device] = await sql<{ version: string }[]>`select app_version as version from devices`;
      return { version: device?.version, values: await valuesOf(sql, 'x') };
    };
    t.equal(await call('reg', { tagId, appVersion: '5.2.0-rc1' }), undefined);
    t.same(await row(), { version: '5.2.0-rc1', values: { [-4]: '5.2' } });
    t.equal(
      await call('reg', { tagId, appVersion: '6', attributes: { appVersion: '7.0' } }),
      undefined,
    );
    t.same(await row(), { version: '7.0', values: { [-4]: '7' } });
    t.equal(await call('reg', { tagId, appVersion: 'webclient-3.0' }), undefined);
    t.same(await row(), { version: 'webclient-3.0', values: { [-4]: '7' } });
  },

  'a repetition writes nothing, and a change raises the version of the group': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const tagId = await tenant.makeTag();
    const api = makeAppApi(store);
    const call = callerOf(api, tenant.caller, {
      appId: tenant.appId,
      platformId: 15,
      deviceId: 'x',
    });
    const state = async () => {
      const [row] = await sql<{ xmin: string; version: number }[]>`
        select d.xmin::text as xmin, g.version from devices d, device_groups g`;
      return row;
    };
    const attributes = { language: 'de', timezone: 'Europe/Kiev', adult: null };
    await declareAttribute(sql, tenant.clientId, { name: 'adult', type: 'boolean' });
    await call('reg', { tagId, attributes });
    const first = await state();
    // More than RecentChanges waits for: the guess without tags sees facets, too.
    for (let times = 0; times < 5; times += 1) await call('reg', { tagId, attributes });
    await call('reg', { tagId, attributes: { timezone: 'Europe/Kyiv' } });
    t.same(await state(), first);
    await call('reg', { tagId, attributes: { language: 'fr' } });
    t.equal((await state())?.version, (first?.version ?? 0) + 1);
    const [counts] = await sql`
      select count(*)::int as pairs, (select count(*)::int from tag_days) as days from device_group_tags`;
    t.same(counts, { pairs: 1, days: 2 }, 'a value is no tag to statistics and plans');
  },

  'none is taken while a node of a version before is at work': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const tagId = await tenant.makeTag();
    await sql`insert into nodes (host, pid, newest_migration) values ('old', 1, '0047-newest-migration')`;
    const api = makeAppApi(store);
    const call = callerOf(api, tenant.caller, {
      appId: tenant.appId,
      platformId: 15,
      deviceId: 'x',
    });
    const given = { tagId, appVersion: '5', attributes: { language: 'de' } };
    t.equal(await call('reg', given), 'attributes.language=later');
    t.same(await valuesOf(sql, 'x'), {});
    await sql`update nodes set died_at = now()`;
    t.equal(
      await call('reg', given),
      'attributes.language=later',
      'not asked at each registration',
    );
    const later = callerOf(makeAppApi(store), tenant.caller, {
      appId: tenant.appId,
      platformId: 15,
      deviceId: 'x',
    });
    t.equal(await later('reg', given), undefined);
    t.same(await valuesOf(sql, 'x'), { [-1]: 'de', [-4]: '5' });
  },

  'the database away: 503, and not OK': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const api = makeAppApi(store);
    const tagId = await tenant.makeTag();
    const device = { appId: tenant.appId, platformId: 15, deviceId: 'x', tagId };
    await api.call('reg', tenant.caller, device);
    await sql`alter table attribute_values rename to away`;
    t.teardown(() => sql`alter table if exists away rename to attribute_values`);
    const body = { ...device, attributes: { language: 'de' } };
    t.equal((await api.call('reg', tenant.caller, body)).status, 503);
    const quiet = { ...device, appVersion: '5' };
    t.equal(
      (await api.call('reg', tenant.caller, quiet)).status,
      200,
      'the old field holds nobody',
    );
    await sql`alter table away rename to attribute_values`;
    t.equal((await api.call('reg', tenant.caller, body)).status, 200);
    t.same(await valuesOf(sql, 'x'), { [-1]: 'de' });
  },
});
