/** Apps as existing clients of the public service ask for them, over real HTTP on every store. */

import type { Test } from 'tap';
import t from 'tap';
import { appRoutes } from '../../../src/catalogue/routes/apps.ts';
import { tagResourceRoutes } from '../../../src/catalogue/routes/tag-resources.ts';
import type { Store } from '../../../src/database/store.ts';
import { addTenant, secrets } from '../../support/api.ts';
import { makeKey } from '../../support/keys.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import type { Answer } from '../../support/resources.ts';
import { openResources, pathsOf } from '../../support/resources.ts';

/** The body in the form of the connector's library. */
const multipart = (json: string) => ({
  type: 'multipart/form-data; boundary=----b',
  body: [
    '------b',
    'Content-Disposition: form-data; name="data"',
    'Content-Type: application/json; charset=utf-8',
    '',
    json,
    '------b--',
    '',
  ].join('\r\n'),
});

async function open(t: Test, store: Store) {
  const { sql, patientReads } = store;
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  const resources = await openResources(t, store, 'acme', [
    ...appRoutes({ sql, secrets, patientReads, takeOff: async () => undefined }),
    ...tagResourceRoutes({
      sql,
      patientReads,
      onDisconnected: () => undefined,
      takeOff: async () => undefined,
    }),
  ]);
  const { tenant, baseUrl } = resources;
  const send = async (
    method: string,
    verb: string,
    body?: string,
    { token = tenant.superUser.token, type = 'application/json' } = {},
  ): Promise<Answer> => {
    const answer = await fetch(`${baseUrl}/push-admin-api/app/${verb}/acme`, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': type },
      ...(body === undefined ? {} : { body }),
    });
    return { status: answer.status, headers: answer.headers, body: await answer.json() };
  };
  return {
    ...resources,
    send,
    get: (token?: string) => send('GET', 'get', undefined, token === undefined ? {} : { token }),
    post: (verb: string, body: unknown, token?: string) =>
      send('POST', verb, JSON.stringify(body), token === undefined ? {} : { token }),
    postParts(verb: string, body: unknown) {
      const { type, body: text } = multipart(JSON.stringify(body));
      return send('POST', verb, text, { type });
    },
  };
}

const PARAMETERS = {
  senderId: 'AAA',
  pushTemplate: '[{"operation":"shift"}]',
  'a.b': [1, null, {}],
};

await onEachStore(t, {
  'listed: a row for each platform, with the API user of the app': async (t, store) => {
    const { get, tenant } = await open(t, store);
    await addTenant(store.sql, 'other');
    const { appId: id, apiUser } = tenant;
    const row = { id, name: 'App', parameters: {}, apiUser: { accessToken: apiUser.token } };
    const answer = await get();
    t.same(answer.body, [
      { ...row, platformId: 3 },
      { ...row, platformId: 15 },
    ]);
    t.equal(answer.headers.get('cache-control'), 'no-store', 'it has secrets');
    const token = await makeKey(store.sql, tenant, { scopes: ['read'] });
    for (const one of (await get(token)).body) t.notOk('apiUser' in one, 'for the super user only');
    const ofOther = await makeKey(store.sql, tenant, { scopes: ['read'], appIds: [99] });
    t.same((await get(ofOther)).body, []);
  },

  'added and updated, as JSON and in parts; parameters are kept as given': async (t, store) => {
    const { get, post, postParts, tenant } = await open(t, store);
    for (const send of [post, postParts]) {
      const added = await send('add', { name: 'Web', platformId: '7', parameters: PARAMETERS });
      t.equal(added.status, 200);
      const { id, apiUser } = added.body;
      t.match(apiUser, { accessToken: /^tca_/ });
      const row = { id, name: 'Web', platformId: 7, parameters: PARAMETERS, apiUser };
      t.same(added.body, row);
      const listed = async () => (await get()).body.filter((one: { id: number }) => one.id === id);
      t.same(await listed(), [row]);
      t.same(Object.keys((await listed())[0].parameters), Object.keys(PARAMETERS), 'in order');

      t.same((await send('update', added.body)).body, row, 'what was answered, sent back');
      const renamed = await send('update', { id: `${id}`, name: 'Site' });
      t.same(renamed.body, { ...row, name: 'Site' }, 'what is absent is kept');
      const other = await send('update', { id, parameters: { a: 1 } });
      t.same(other.body, { ...row, name: 'Site', parameters: { a: 1 } });
      const none = await send('update', { id, parameters: null });
      t.same(none.body, { ...row, name: 'Site', parameters: {} });
      t.same(await listed(), [none.body]);
    }
    const { appId: id } = tenant;
    const both = await post('update', { id, parameters: {} });
    t.match(both, { status: 400, body: { errors: [{ path: 'platformId', message: /3, 15/ }] } });
    t.equal((await post('update', { id, platformId: 15, parameters: { b: 2 } })).status, 200);
    t.match((await get()).body, [
      { id, platformId: 3, parameters: {} },
      { id, platformId: 15, parameters: { b: 2 } },
    ]);
  },

  'an empty object of parameters, as PHP writes it': async (t, store) => {
    const { post, get } = await open(t, store);
    const added = await post('add', { name: 'Web', platformId: 7, parameters: [] });
    t.match(added, { status: 200, body: { parameters: {} } });
    t.notOk(Array.isArray((await get()).body.at(-1).parameters));
    const { id } = added.body;
    t.equal((await post('update', { id, parameters: [1] })).status, 400);
  },

  'parameters keep their digits, or the number is named': async (t, store) => {
    const { send, get } = await open(t, store);
    const app = (parameters: string) =>
      `{"name":"Web","platformId":7.0,"parameters":${parameters}}`;
    const changed = app('{"a":[{"id":1234567890123456789}],"b":1.10}');
    const parts = multipart(changed);
    for (const refused of [
      await send('POST', 'add', changed),
      await send('POST', 'add', parts.body, { type: parts.type }),
    ]) {
      t.equal(refused.status, 400);
      t.match(refused.body.errors, [
        { path: 'parameters.a.0.id', message: /write it as a string/ },
        { path: 'parameters.b', message: /would arrive as 1\.1/ },
      ]);
    }
    t.equal((await send('POST', 'add', app('{"b":1.5}'))).status, 200);
    t.match((await get()).body.at(-1), { name: 'Web', parameters: { b: 1.5 } });
  },

  'tags are connected, and none is disconnected': async (t, store) => {
    const { ask, post, tenant } = await open(t, store);
    const { appId } = tenant;
    const make = async (fields: object) => (await ask('POST', 'tags', fields)).body.id;
    const every = await make({ name: 'every', sourceId: 'every' });
    const some = await make({ name: 'some', sourceId: 'some', appIds: [appId] });
    const named = { tags: [{ sourceId: 'every' }, { sourceId: 'some' }, { id: some }] };
    const { id } = (await post('add', { name: 'Web', platformId: 7, ...named })).body;
    const appIdsOf = async (tagId: number) => (await ask('GET', `tags/${tagId}`)).body.appIds;
    t.same(await appIdsOf(some), [appId, id]);
    t.equal(await appIdsOf(every), undefined, 'it is for every app already');
    await post('update', { id, tags: [] });
    await post('update', { id, tags: [{ sourceId: 'every' }] });
    t.same(await appIdsOf(some), [appId, id]);
    const before = await ask('GET', 'tags');
    const unknown = await post('update', {
      id: appId,
      platformId: 3,
      name: 'Not this',
      tags: [{ sourceId: 'some' }, { sourceId: 'nowhere' }],
    });
    t.equal(unknown.status, 400);
    t.same(pathsOf(unknown), ['tags.1']);
    t.same((await ask('GET', 'tags')).body, before.body);
    const added = await post('add', { name: 'X', platformId: 7, tags: [{ sourceId: 'no' }] });
    t.same(pathsOf(added), ['tags.0']);
    const apps = await store.sql`select id from apps where name in ('X', 'Not this')`;
    t.same([...apps], [], 'all or nothing');

    const other = await make({ name: 'of the other', appIds: [appId] });
    const token = await makeKey(store.sql, tenant, { scopes: ['admin'], appIds: [id] });
    const connecting = { id, tags: [{ id: other }] };
    t.equal((await post('update', connecting, token)).status, 403, 'a tag of another app');
    t.equal((await post('update', { id: appId, platformId: 3 }, token)).status, 403);
    t.equal((await post('add', { name: 'X', platformId: 7 }, token)).status, 403);
    t.equal((await post('update', { id, name: 'Mine' }, token)).status, 200);
    t.same(await appIdsOf(other), [appId]);
  },

  'what is not valid is said': async (t, store) => {
    const { post, tenant } = await open(t, store);
    const { appId: id } = tenant;
    for (const [verb, body, paths] of [
      ['add', { platformId: 7 }, ['name']],
      ['add', { name: 'x', platformId: 8 }, ['platformId']],
      ['add', { name: 'x', platformId: 7, parameters: [1] }, ['parameters']],
      ['add', { name: 'x', platformId: 7, tags: [{}] }, ['tags.0']],
      ['add', { name: 'x', platformId: 7, params: {} }, ['params']],
      ['add', { name: 'x', platformId: 7, parameters: { a: 'x'.repeat(16_384) } }, ['parameters']],
      ['add', { name: 'x', platformId: 7, parameters: nested(33) }, ['parameters']],
      ['add', { name: 'x', platformId: 7, parameters: nested(2_000) }, ['parameters']],
      ['update', { name: 'x' }, ['id']],
      ['update', { id, platformId: 7 }, ['platformId']],
    ] as const) {
      const answer = await post(verb, body);
      t.equal(answer.status, 400, JSON.stringify(body).slice(0, 80));
      t.same(pathsOf(answer), paths, JSON.stringify(body).slice(0, 80));
    }
    const other = await addTenant(store.sql, 'other');
    t.equal((await post('update', { id: other.appId, name: 'x' })).status, 404);
  },
});

/** An object of so many levels. */
function nested(levels: number): object {
  return JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`) as object;
}
