import t from 'tap';
import { appApiRoutes } from '../../../src/devices/routes/routes.ts';
import { addTenant, bearer, startApiOn } from '../../support/api.ts';
import { makeAppApi } from '../../support/app-api.ts';
import { declareAttribute, valuesOf } from '../../support/attributes.ts';
import { onEachStore } from '../../support/on-each-store.ts';

await onEachStore(t, {
  'a token is replaced by an app for its own devices only': async (t, store) => {
    const acme = await addTenant(store.sql, 'acme');
    const other = await addTenant(store.sql, 'other');
    const app = makeAppApi(store);
    const { baseUrl } = await startApiOn(t, store, appApiRoutes(app));
    const post = async (
      body: unknown,
      { path = 'acme', credential = acme.apiUser } = {},
    ): Promise<readonly [number, unknown, Headers]> => {
      const response = await fetch(`${baseUrl}/push-api/v3/${path}/devices/replace`, {
        method: 'POST',
        headers: { authorization: bearer(credential) },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return [response.status, await response.json(), response.headers];
    };
    const register = (tenant: typeof acme, deviceId: string) =>
      fetch(`${baseUrl}/push-api/reg`, {
        method: 'POST',
        headers: { authorization: bearer(tenant.apiUser) },
        body: JSON.stringify({ appId: tenant.appId, platformId: 3, deviceId }),
      });
    const { appId } = acme;
    const body = { appId, platformId: 3, deviceId: 'AA', newDeviceId: 'BB' };
    await register(acme, 'aa');
    await register(other, 'aa');
    const idsOf = async (tenant: typeof acme) =>
      (
        await store.sql`select device_id as id from devices where app_id = ${tenant.appId} order by 1`
      ).map((row) => row['id']);

    t.match(await post(body), [200, { outcome: 'moved' }]);
    t.same(await idsOf(acme), ['bb']);
    t.same(await idsOf(other), ['aa'], 'tenants apart');
    t.match(await post(body), [200, { outcome: 'unchanged' }], 'tried again');
    await register(acme, 'aa');
    const asTexts = { ...body, appId: String(appId), platformId: '3', appVersion: null, more: 1 };
    const [status, merged, headers] = await post(asTexts);
    t.match([status, merged], [200, { outcome: 'merged' }]);
    t.equal(headers.get('tagcast-ignored'), 'more', 'an unknown field is named');
    t.match(await post({ ...body, newDeviceId: 'cc' }), [404, { status: 404 }]);
    t.same(
      app.results.filter((result) => result.startsWith('replace')),
      Array.from({ length: 3 }, () => 'replace committed'),
      'are counted',
    );

    t.match((await post(body, { path: 'other' }))[0], 403);
    t.match((await post({ ...body, appId: other.appId }))[0], 403);
    t.match((await post(body, { credential: other.apiUser }))[0], 403);
    t.match((await post(body, { credential: acme.superUser }))[0], 403);
    t.match(await post('no json'), [400]);
    t.match(await post({ ...body, platformId: 7 }), [400, { errors: [{ path: 'platformId' }] }]);
    t.match(await post({ appId, platformId: 3 }), [
      400,
      {
        errors: [
          { path: 'deviceId', message: /^is missing; it must be a string of 1–4096/ },
          { path: 'newDeviceId', message: /^is missing/ },
        ],
      },
    ]);
    t.match(await post({ ...body, newDeviceId: '', appVersion: 'x'.repeat(256) }), [
      400,
      { errors: [{ path: 'newDeviceId' }, { path: 'appVersion' }] },
    ]);
    t.match((await post({ ...body, newDeviceId: 'x'.repeat(70_000) }))[0], 413);
    t.same(await idsOf(acme), ['bb']);
  },

  'attributes come along, given ones win, and others are named': async (t, store) => {
    const { sql } = store;
    const acme = await addTenant(sql, 'acme');
    const { appId, clientId } = acme;
    const plan = await declareAttribute(sql, clientId, { name: 'plan', type: 'text' });
    await declareAttribute(sql, clientId, { name: 'served', type: 'text', setBy: 'server' });
    const score = await declareAttribute(sql, clientId, { name: 'score', type: 'integer' });
    const { baseUrl } = await startApiOn(t, store, appApiRoutes(makeAppApi(store)));
    const post = async (path: string, body: object) => {
      const answer = await fetch(`${baseUrl}/push-api/${path}`, {
        method: 'POST',
        headers: { authorization: bearer(acme.apiUser) },
        body: JSON.stringify({ appId, platformId: 15, ...body }),
      });
      const ignored = answer.headers.get('tagcast-ignored');
      return [answer.status, await answer.text(), ignored] as const;
    };
    const replace = (deviceId: string, newDeviceId: string, more: object = {}) =>
      post('v3/acme/devices/replace', { deviceId, newDeviceId, ...more });
    await post('reg', { deviceId: 'a', attributes: { language: 'de', plan: 'gold' } });
    const wrong = { nobody: 'x', served: 'y', country: 'Nowhere' };
    const given = { language: 'fr', plan: null, score: 5, ...wrong };
    t.match(await replace('a', 'b', { appVersion: '5.2.0', attributes: given }), [
      200,
      '{"outcome":"moved"}',
      'attributes.nobody, attributes.served, attributes.country',
    ]);
    t.same(await valuesOf(sql, 'b'), { '-1': 'fr', '-4': '5.2', [score]: '5' });
    t.match(await replace('b', 'c'), [200, '{"outcome":"moved"}', null]);
    t.same(await valuesOf(sql, 'c'), { '-1': 'fr', '-4': '5.2', [score]: '5' }, 'they stay');

    await post('reg', { deviceId: 'd', attributes: { language: 'it', plan: 'silver', score: 1 } });
    t.match(await replace('c', 'd', { attributes: { country: 'CH', language: null, score: 9 } }), [
      200,
      '{"outcome":"merged"}',
      null,
    ]);
    t.same(await valuesOf(sql, 'd'), { '-3': 'CH', '-4': '5.2', [plan]: 'silver', [score]: '9' });
    t.same(
      await replace('d', 'dd', { attributes: ['language'] }),
      [200, '{"outcome":"moved"}', 'attributes'],
      'it is no reason to keep a dead token',
    );
    await sql`delete from attributes where id = ${plan}`;
    t.match(await replace('dd', 'e', { attributes: { language: 'de' } }), [200]);
    t.match(await valuesOf(sql, 'e'), { '-1': 'de' });
  },

  'its rate is that of registrations, and lost tags are told': async (t, store) => {
    const acme = await addTenant(store.sql, 'acme');
    const app = makeAppApi(store, { perSecond: 4, tagsPerDeviceMax: 1 });
    const { baseUrl } = await startApiOn(t, store, appApiRoutes(app));
    const post = (path: string, body: object): Promise<Response> =>
      fetch(`${baseUrl}/push-api/${path}`, {
        method: 'POST',
        headers: { authorization: bearer(acme.apiUser) },
        body: JSON.stringify({ appId: acme.appId, platformId: 15, ...body }),
      });
    const tags = await store.sql<{ id: number }[]>`
      insert into tags (client_id, name) values (${acme.clientId}, 'a'), (${acme.clientId}, 'b') returning id`;
    await post('reg', { deviceId: 'old', tagId: tags[0] });
    await post('reg', { deviceId: 'new', tagId: tags[1] });
    const replace = () => post('v3/acme/devices/replace', { deviceId: 'old', newDeviceId: 'new' });
    const replaced = await replace();
    t.same(await replaced.json(), { outcome: 'merged' });
    t.equal(replaced.headers.get('tagcast-ignored'), 'tagId');
    await app.replacements.drain();
    const unavailable = await replace();
    t.equal(unavailable.status, 503);
    t.ok(unavailable.headers.get('retry-after'));
    let status = 503;
    for (let n = 0; n < 100 && status === 503; n += 1) status = (await replace()).status;
    t.equal(status, 429);
  },
});
