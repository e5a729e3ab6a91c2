import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { appApiRoutes } from '../../../src/devices/routes/routes.ts';
import type { HttpRequest } from '../../../src/http/handler.ts';
import { addTenant, bearer, startApiOn } from '../../support/api.ts';
import { makeAppApi } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import type { Tenant } from '../../support/tenant.ts';
import { makeTenant } from '../../support/tenant.ts';

const GET_FORM = '/push-api/v3/:client/tags/:app';
const ETAG = /^"[\w-]{22}"$/;

const getRequest = (
  tenant: Tenant,
  params: Readonly<Record<string, string>> = {},
  etag = '',
): Partial<HttpRequest> => ({
  method: 'GET',
  params: { client: tenant.slug, app: String(tenant.appId), ...params },
  header: (name) => (name === 'if-none-match' ? etag : ''),
});

await onEachStore(t, {
  'tags in their groups: default first, both arrays on every other group, any depth': async (
    t,
    store,
  ) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const sport = await tenant.makeGroup('Sport', undefined, 'sport');
    const football = await tenant.makeGroup('Football', sport);
    const deep = await tenant.makeGroup('Deep', football);
    const empty = await tenant.makeGroup('Empty');
    const goal = await tenant.makeTag({ name: 'Goal', groupId: deep, sourceId: 'goal' });
    const news = await tenant.makeTag({ name: 'News', optionalParameters: { a: 'b' } });
    const results = await tenant.makeTag({ name: 'Results', groupId: sport });
    await tenant.makeTag({ name: 'Elsewhere', appIds: [await tenant.makeApp()] });
    await tenant.makeTag({ name: 'Expired', groupId: sport, expiresAtMs: Date.now() - 1 });
    const named = [
      {
        id: sport,
        sourceId: 'sport',
        name: 'Sport',
        tags: [{ id: results, name: 'Results' }],
        groups: [
          {
            id: football,
            name: 'Football',
            tags: [],
            groups: [
              {
                id: deep,
                name: 'Deep',
                tags: [{ id: goal, name: 'Goal', sourceId: 'goal' }],
                groups: [],
              },
            ],
          },
        ],
      },
      { id: empty, name: 'Empty', tags: [], groups: [] },
    ];
    const ungrouped = [{ id: news, name: 'News', tagOptionalParameters: { a: 'b' } }];
    const api = makeAppApi(store);
    const post = await api.call('tags', tenant.caller, {
      appId: String(tenant.appId),
      platformId: '3',
    });
    t.match(post, { status: 200, headers: { 'Content-Type': 'application/json' } });
    t.equal(post.body, JSON.stringify([{ name: 'default', tags: ungrouped }, ...named]));
    const get = await api.get(GET_FORM, tenant.caller, getRequest(tenant));
    t.equal(get.body, JSON.stringify([{ id: 0, name: 'default', tags: ungrouped }, ...named]));
  },

  'the default group is there also when nothing is': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const api = makeAppApi(store);
    const post = await api.call('tags', tenant.caller, { appId: tenant.appId, platformId: 3 });
    t.equal(post.body, '[{"name":"default","tags":[]}]');
  },

  'ETag: 304 until a tag changes or expires': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const api = makeAppApi(store);
    const expiring = await tenant.makeTag({ expiresAtMs: Date.now() + 60_000 });
    const get = async (etag?: string) =>
      await api.get(GET_FORM, tenant.caller, getRequest(tenant, {}, etag));
    const first = await get();
    const etag = first.headers?.['ETag'] ?? '';
    t.match(etag, ETAG);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      t.match(await get(known), { status: 304, headers: { ETag: etag }, body: '' });
    }
    t.equal((await get('"other"')).status, 200);
    await tenant.makeTag();
    const second = await get(etag);
    t.equal(second.status, 200);
    t.not(second.headers?.['ETag'], etag);
    // Its time comes without anybody changing anything.
    await store.sql`update tags set expires_at_ms = ${Date.now() + 5_000} where id = ${expiring}`;
    await store.sql`update clients set catalogue_version = catalogue_version + 1`;
    const third = await get();
    t.match(String(third.body), `"id":${expiring}`);
    const fourth = await until('the tag is gone', async () => {
      const answer = await get();
      return answer.body === third.body ? null : answer;
    });
    t.notMatch(String(fourth.body), `"id":${expiring}`);
    t.not(fourth.headers?.['ETag'], third.headers?.['ETag']);
  },

  'a large tree is compressed for whoever takes that, a small one for nobody': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const api = makeAppApi(store);
    const get = async (coding: string, etag = '') => {
      const headers: Readonly<Record<string, string>> = {
        'accept-encoding': coding,
        'if-none-match': etag,
      };
      const request = { ...getRequest(tenant), header: (name: string) => headers[name] ?? '' };
      return await api.get(GET_FORM, tenant.caller, request);
    };
    await tenant.makeTag({ name: 'Small' });
    const small = await get('br, gzip');
    t.match(small, { status: 200, body: String, headers: { Vary: 'Accept-Encoding' } });
    t.notOk(small.headers?.['Content-Encoding']);

    const tags = Array.from({ length: 40 }, (_, n) => ({ name: `Tag ${n} of many` }));
    for (const tag of tags) await tenant.makeTag(tag);
    const plain = await get('deflate');
    t.notOk(plain.headers?.['Content-Encoding']);
    const etags = new Set([plain.headers?.['ETag']]);
    for (const [coding, decompress] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const [packed, again] = await Promise.all([get(coding), get(coding)]);
      t.match(packed, {
        status: 200,
        headers: {
          'Content-Encoding': coding,
          'Content-Type': 'application/json',
          Vary: 'Accept-Encoding',
        },
      });
      t.ok(Buffer.isBuffer(packed.body) && packed.body.length < plain.body.length / 3);
      t.equal(decompress(packed.body).toString(), plain.body);
      t.equal(again.body, packed.body, 'made once');
      t.equal((await get(coding)).body, packed.body, 'and kept');
      const etag = packed.headers?.['ETag'] ?? '';
      etags.add(etag);
      t.match(await get(coding, etag), { status: 304, headers: { ETag: etag }, body: '' });
      t.match(await get('', `W/${etag}`), { status: 304 }, 'the same tags, however packed');
    }
    t.equal(etags.size, 3, 'other bytes have another ETag (RFC 9110, 8.8.3)');
    await tenant.makeTag({ name: 'One more' });
    t.equal((await get('br', [...etags].join(', '))).status, 200);
    const post = await api.call('tags', tenant.caller, { appId: tenant.appId, platformId: 3 });
    t.equal(typeof post.body, 'string', 'a caller that asks for nothing gets it as it is');
  },

  'compressed over the wire': async (t, store) => {
    const acme = await addTenant(store.sql, 'acme');
    const tags = Array.from({ length: 100 }, (_, n) => `Tag ${n} of many`);
    await store.sql`
      insert into tags (id, client_id, name)
      select 5000 + n, ${acme.clientId}, name from unnest(${tags}::text[]) with ordinality as t (name, n)`;
    const { baseUrl } = await startApiOn(t, store, appApiRoutes(makeAppApi(store)));
    for (const coding of ['br', 'gzip', 'identity']) {
      const response = await fetch(`${baseUrl}/push-api/v3/acme/tags/${acme.appId}`, {
        headers: { authorization: bearer(acme.apiUser), 'accept-encoding': coding },
      });
      const sent = coding === 'identity' ? null : coding;
      t.equal(response.headers.get('content-encoding'), sent, coding);
      t.match(await response.json(), [{ name: 'default', tags: { length: 100 } }]);
    }
  },

  'bad parameters are 400; another client or app is 403': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const other = await makeTenant(store.sql, 'other');
    const api = makeAppApi(store);
    const status = async (body: unknown) => (await api.call('tags', tenant.caller, body)).status;
    t.equal(await status('no json'), 400);
    t.equal(await status({ platformId: 3 }), 400);
    t.equal(await status({ appId: tenant.appId }), 400);
    t.equal(await status({ appId: tenant.appId, platformId: 7 }), 400);
    t.equal(await status({ appId: other.appId, platformId: 3 }), 403);
    for (const params of [
      { client: 'other' },
      { client: 'nobody' },
      { app: String(other.appId) },
      { app: 'x' },
      { app: '999999' },
    ]) {
      const response = await api.get(GET_FORM, tenant.caller, getRequest(tenant, params));
      t.equal(response.status, 403);
    }
  },
});
