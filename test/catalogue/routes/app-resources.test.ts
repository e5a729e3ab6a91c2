/** Apps as resources of the Admin API, over real HTTP on every store. */

import type { Test } from 'tap';
import t from 'tap';
import { Authenticator } from '../../../src/access/authenticate.ts';
import { appResourceRoutes } from '../../../src/catalogue/routes/app-resources.ts';
import { catalogueVersion } from '../../../src/catalogue/sql/load-catalogue.ts';
import type { Store } from '../../../src/database/store.ts';
import { addTenant, secrets } from '../../support/api.ts';
import { makeKey } from '../../support/keys.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { openResources, pathsOf } from '../../support/resources.ts';

async function open(t: Test, store: Store) {
  const { sql } = store;
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  const resources = await openResources(t, store, 'acme', appResourceRoutes({ sql, secrets }));
  const { clientId } = resources.tenant;
  return { ...resources, version: () => catalogueVersion(sql, clientId) };
}

await onEachStore(t, {
  'made, read, changed': async (t, store) => {
    const { ask, tenant, version } = await open(t, store);
    const before = await version();
    const made = await ask('POST', 'apps', { name: 'News', platformIds: [15, 3, '3'] });
    t.equal(made.status, 201);
    t.equal(made.headers.get('cache-control'), 'no-store');
    const { apiUser, ...app } = made.body;
    t.same(app, { id: app.id, name: 'News', platformIds: [3, 15] });
    t.not(await version(), before, 'caches learn of it');
    const caller = await new Authenticator(store.sql, secrets).authenticate(
      `Bearer ${apiUser.token}`,
    );
    t.match(caller, { role: 'api-user', appId: app.id });

    const path = `apps/${app.id}`;
    t.same((await ask('GET', path)).body, app, 'without its secrets');
    t.same((await ask('GET', 'apps')).body, [
      { id: tenant.appId, name: 'App', platformIds: [3, 15] },
      app,
    ]);
    const now = await version();
    t.same((await ask('PATCH', path, {})).body, app);
    t.same((await ask('PATCH', path, app)).body, app, 'what was answered, sent back');
    t.equal(await version(), now, 'what changes nothing empties no cache');
    const changed = { id: app.id, name: 'Nieuws', platformIds: [3, 7, 15] };
    t.same((await ask('PATCH', path, { name: 'Nieuws', platformIds: [3, 15, 7] })).body, changed);
    t.not(await version(), now);
    t.same((await ask('GET', path)).body, changed);
  },

  'what is not valid is said, and nothing happens': async (t, store) => {
    const { ask, tenant, version } = await open(t, store);
    const path = `apps/${tenant.appId}`;
    const before = await version();
    for (const [method, to, body, paths] of [
      ['POST', 'apps', {}, ['name', 'platformIds']],
      ['POST', 'apps', { name: '', platformIds: [] }, ['name', 'platformIds']],
      ['POST', 'apps', { name: 'x', platformIds: [4] }, ['platformIds.0']],
      ['POST', 'apps', { name: 'x', platformIds: 3 }, ['platformIds']],
      ['POST', 'apps', { name: 'x', platformIds: [3], plattform: 3 }, ['plattform']],
      ['GET', 'apps?platformId=4', undefined, ['platformId']],
      ['PATCH', path, { name: null }, ['name']],
      ['PATCH', path, { id: tenant.appId + 1 }, ['id']],
      ['PATCH', path, { platformIds: [3, 7] }, ['platformIds']],
    ] as const) {
      const answer = await ask(method, to, body);
      t.equal(answer.status, 400, JSON.stringify(body));
      t.same(pathsOf(answer), paths, JSON.stringify(body));
    }
    t.match((await ask('PATCH', path, { platformIds: [7] })).body.errors, [
      { message: /leaves out 3, 15/ },
    ]);
    t.match((await ask('POST', 'apps', { name: 'x', platformIds: [4] })).body.errors, [
      { message: /3 \(iOS\), 7 \(Web\) or 15/ },
    ]);
    t.equal(await version(), before);
    const other = await addTenant(store.sql, 'other');
    for (const id of ['0', 'x', '2147483647', other.appId]) {
      t.equal((await ask('GET', `apps/${id}`)).status, 404, `${id}`);
      t.equal((await ask('PATCH', `apps/${id}`, {})).status, 404, `${id}`);
    }
  },

  'a list: by pages, by name, by platform': async (t, store) => {
    const { ask, walk, tenant } = await open(t, store);
    const ids = [tenant.appId];
    for (const [name, platformIds] of [
      ['Acme News', [3]],
      ['acme sport', [7, 15]],
      ['Other 100%', [7]],
    ] as const) {
      ids.push((await ask('POST', 'apps', { name, platformIds })).body.id);
    }
    const idsOf = (rows: readonly unknown[]) => rows.map((row) => (row as { id: number }).id);
    t.same(idsOf(await walk('apps', 1)), ids);
    t.same(idsOf(await walk('apps', 2)), ids);
    const found = async (query: string) => idsOf((await ask('GET', `apps?${query}`)).body);
    t.same(await found('q=ACME'), [ids[1], ids[2]]);
    t.same(await found('q=100%25'), [ids[3]]);
    t.same(await found('platformId=7'), [ids[2], ids[3]]);
    t.same(await found('platformId=7&q=sport&limit=1'), [ids[2]]);
    const unknown = await ask('GET', 'apps?platform=7');
    t.match(unknown, { status: 400, body: { errors: [{ message: /nearest is platformId/ }] } });
  },

  'a key sees and changes the apps that it is for': async (t, store) => {
    const { ask, tenant } = await open(t, store);
    const second = (await ask('POST', 'apps', { name: 'Second', platformIds: [3] })).body.id;
    const key = (appIds: readonly number[] | null, tagIds: readonly number[] | null = null) =>
      makeKey(store.sql, tenant, { scopes: ['read', 'admin'], appIds, tagIds });
    const [ofApp, ofTag, whole] = [await key([second]), await key(null, [1]), await key(null)];
    const statuses = async (token: string) => [
      (await ask('GET', `apps/${tenant.appId}`, undefined, token)).status,
      (await ask('GET', `apps/${second}`, undefined, token)).status,
      (await ask('PATCH', `apps/${tenant.appId}`, { name: 'x' }, token)).status,
      (await ask('PATCH', `apps/${second}`, { name: 'x' }, token)).status,
      (await ask('POST', 'apps', { name: 'x', platformIds: [3] }, token)).status,
    ];
    t.same(await statuses(ofApp), [403, 200, 403, 200, 403]);
    t.same(await statuses(ofTag), [200, 200, 403, 403, 403]);
    t.same(await statuses(whole), [200, 200, 200, 200, 201]);
    const listed = async (token: string) =>
      (await ask('GET', 'apps', undefined, token)).body.length;
    t.equal(await listed(ofApp), 1);
    t.equal(await listed(ofTag), 3);
  },

  'a thousand apps, and no more': async (t, store) => {
    const { ask, tenant } = await open(t, store);
    await store.sql`
      insert into apps (client_id, name) select ${tenant.clientId}, 'x' from generate_series(1, 998)`;
    const make = () => ask('POST', 'apps', { name: 'x', platformIds: [3] });
    t.equal((await make()).status, 201);
    t.match(await make(), { status: 403, body: { detail: /1000 apps/ } });
    t.equal((await ask('GET', 'apps')).body.length, 1_000);
  },
});
