/** Attributes of a client: within limits, its own, and gone at once when one is deleted. */

import t from 'tap';
import { attributeRoutes } from '../../../src/attributes/routes/attributes.ts';
import { insertApp } from '../../../src/catalogue/sql/insert-app.ts';
import type { Store } from '../../../src/database/store.ts';
import { addTenant } from '../../support/api.ts';
import { makeKey } from '../../support/keys.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { openResources, pathsOf } from '../../support/resources.ts';

async function open(t: Lifetime, store: Store) {
  const { sql } = store;
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  return await openResources(t, store, 'acme', attributeRoutes(store));
}

await onEachStore(t, {
  'declared, listed, changed, deleted': async (t, store) => {
    const { sql } = store;
    const { ask, tenant } = await open(t, store);
    const made = await ask('POST', 'attributes', { name: 'plan', type: 'text' });
    t.equal(made.status, 201);
    t.match(made.body, { name: 'plan', setBy: 'both', personal: false, isBuiltIn: false });
    const { body } = await ask('GET', 'attributes');
    t.same(
      body.map(({ name }: { name: string }) => name),
      [
        'language',
        'timezone',
        'country',
        'appVersion',
        'osVersion',
        'registered',
        'lastSeen',
        'plan',
      ],
    );
    t.match((await ask('GET', 'attributes/lastSeen')).body, {
      type: 'time',
      setBy: 'engine',
      isBuiltIn: true,
    });
    for (const day of ['registered', 'lastSeen'])
      t.equal((await ask('GET', `attributes/${day}/values`)).status, 409, day);
    t.match((await ask('GET', 'attributes/language')).body, { type: 'language', isBuiltIn: true });
    const terms = { setBy: 'server', appIds: [tenant.appId], personal: true, description: 'x' };
    t.match((await ask('PATCH', 'attributes/plan', terms)).body, terms);
    t.match((await ask('PATCH', 'attributes/plan', { appIds: null })).body, { setBy: 'server' });
    t.notOk('appIds' in (await ask('GET', 'attributes/plan')).body);
    await sql`
      insert into attribute_values (client_id, attribute_id, value)
      select client_id, id, 'gold' from attributes`;
    t.equal((await ask('DELETE', 'attributes/plan')).status, 204);
    const [value] = await sql`select retired_at is not null as retired from attribute_values`;
    t.same(value, { retired: true });
    t.equal((await ask('GET', 'attributes/plan')).status, 404);
    t.equal((await ask('POST', 'attributes', { name: 'plan', type: 'boolean' })).status, 201);
    const audited = await sql<{ action: string }[]>`
      select action from audit_entries where action like 'attribute.%' order by id`;
    t.same(
      audited.map(({ action }) => action.split('.')[1]),
      ['create', 'change', 'change', 'delete', 'create'],
    );
  },

  'what is not valid is said': async (t, store) => {
    const { sql } = store;
    const { ask } = await open(t, store);
    const other = await addTenant(sql, 'other');
    const plan = { name: 'plan', type: 'text' };
    for (const [body, paths] of [
      [{}, ['name', 'type']],
      [{ ...plan, name: 'Plan' }, ['name']],
      [{ ...plan, name: 'p'.repeat(33) }, ['name']],
      [{ ...plan, name: 'language' }, ['name']],
      [{ ...plan, name: 'registered' }, ['name']],
      [{ ...plan, type: 'number' }, ['type']],
      [{ ...plan, setBy: 'nobody' }, ['setBy']],
      [{ ...plan, appIds: [other.appId] }, ['appIds.0']],
      [{ ...plan, personal: 'yes' }, ['personal']],
      [{ ...plan, nmae: 'x' }, ['nmae']],
    ] as const) {
      const answer = await ask('POST', 'attributes', body);
      t.equal(answer.status, 400, JSON.stringify(body));
      t.same(pathsOf(answer), paths, JSON.stringify(body));
    }
    await ask('POST', 'attributes', plan);
    t.equal((await ask('POST', 'attributes', plan)).status, 409);
    t.equal((await ask('PATCH', 'attributes/plan', { type: 'text' })).status, 400, 'it stays');
    for (const method of ['PATCH', 'DELETE']) {
      t.equal((await ask(method, 'attributes/language', {})).status, 409);
      t.equal((await ask(method, 'attributes/registered', {})).status, 409);
      t.equal((await ask(method, 'attributes/nobody', {})).status, 404);
      t.equal((await ask(method, 'attributes/No', {})).status, 404);
    }
    await sql`
      insert into attributes (client_id, name, type, set_by, is_personal)
      select client_id, 'a' || n, 'text', 'both', false from attributes, generate_series(1, 31) as n`;
    t.equal((await ask('POST', 'attributes', { ...plan, name: 'more' })).status, 409);
  },

  'numbers and times wait until every node knows them': async (t, store) => {
    const { ask } = await open(t, store);
    await store.sql`insert into nodes (host, pid, newest_migration) values ('old', 7, '0051-one-index-of-jobs-under-way')`;
    for (const type of ['integer', 'time']) {
      const refused = await ask('POST', 'attributes', { name: 'score', type });
      t.match(refused, { status: 503, body: { detail: /earlier version/ } }, type);
    }
    t.equal((await ask('POST', 'attributes', { name: 'plan', type: 'text' })).status, 201);
    await store.sql`delete from nodes where host = 'old'`;
    t.equal((await ask('POST', 'attributes', { name: 'score', type: 'integer' })).status, 201);
  },

  'of each client its own, and not for keys with limits': async (t, store) => {
    const { sql } = store;
    const { ask, tenant } = await open(t, store);
    const other = await addTenant(sql, 'other');
    await sql`
      insert into attributes (client_id, name, type, set_by, is_personal)
      values (${other.clientId}, 'theirs', 'text', 'both', false)`;
    t.equal((await ask('GET', 'attributes/theirs')).status, 404);
    t.equal((await ask('DELETE', 'attributes/theirs')).status, 404);
    const { clientId } = tenant;
    const appId = await insertApp(sql, { clientId, name: 'Second', platformIds: [3] });
    const token = await makeKey(sql, tenant, { scopes: ['admin', 'read'], appIds: [appId] });
    t.equal((await ask('GET', 'attributes', undefined, token)).status, 200);
    const body = { name: 'plan', type: 'text' };
    t.equal((await ask('POST', 'attributes', body, token)).status, 403);
    t.equal((await ask('DELETE', 'attributes/plan', undefined, token)).status, 403);
  },

  'a key cannot make a personal attribute one that it may see': async (t, store) => {
    const { ask, tenant } = await open(t, store);
    const token = await makeKey(store.sql, tenant, { scopes: ['admin'] });
    const change = (personal: boolean, by?: string) =>
      ask('PATCH', 'attributes/plan', { personal }, by);
    await ask('POST', 'attributes', { name: 'plan', type: 'text' });
    t.equal((await change(true, token)).status, 200);
    t.equal((await change(false, token)).status, 403);
    t.equal((await change(true, token)).status, 200, 'what it is already');
    t.match((await change(false)).body, { personal: false });
  },
});
