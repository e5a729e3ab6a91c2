/** The policies of a client, and what a push may ask of them, over HTTP. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

const NEWS = { name: 'news', default: true, caps: [{ max: 2, per: '24h' }] };
const BREAKING = { name: 'breaking' };

async function startPolicies(t: Test, store: Store, slug: string) {
  const api = await startJobsApi(t, store, slug);
  const at = `/push-admin-api/v3/${slug}/policies`;
  const put = (body: unknown, token?: string, headers?: object) =>
    api.call('PUT', at, body, token, headers);
  return { api, put, get: (token?: string) => api.call('GET', at, undefined, token) };
}

await onEachStore(t, {
  async 'none, set, changed only by who knows them'(t, store) {
    const { api, put, get } = await startPolicies(t, store, 'set');
    const none = await get();
    t.match(none, { status: 200, body: { timezone: 'UTC', categories: [] } });
    const policies = { timezone: 'Europe/Zurich', categories: [NEWS, BREAKING] };
    const set = await put(policies, undefined, { 'if-match': none.headers.get('etag') });
    t.match(set, { status: 200, body: policies });
    t.not(set.headers.get('etag'), none.headers.get('etag'));
    const read = await get();
    t.strictSame(read.body, policies);
    t.equal(read.headers.get('etag'), set.headers.get('etag'));
    t.match(await put(policies, undefined, { 'if-match': none.headers.get('etag') }), {
      status: 412,
    });
    t.match(await put(policies, undefined, { 'if-match': '*' }), { status: 200 });
    t.match(await put({ categories: [] }), { status: 200, body: { timezone: 'UTC' } });
    const entries = await store.sql<{ count: number; detail: object }[]>`
      select count, detail from audit_entries
      where client_id = ${api.tenant.clientId} and action = 'client.policies' order by id`;
    t.strictSame(
      [...entries],
      [{ count: 2, detail: { fields: ['timezone', 'categories'] } }],
      'what changes nothing is not recorded',
    );
  },

  async 'what is wrong with them is named'(t, store) {
    const { put } = await startPolicies(t, store, 'wrong');
    const faults: readonly (readonly [object, string, RegExp])[] = [
      [{ categories: [{ name: 'News', default: true }] }, 'categories.0.name', /small letter/],
      [{ categories: [BREAKING] }, 'categories', /default/],
      [{ categories: [NEWS, { ...NEWS, name: 'more' }] }, 'categories', /default/],
      [{ categories: [NEWS, { name: 'news' }] }, 'categories.1.name', /twice/],
      [{ categories: [], quietHours: {} }, 'quietHours', /unknown/],
      [{ categories: [{ ...NEWS, quietHours: 'ignore' }] }, 'categories.0.quietHours', /unknown/],
      [{ categories: [], timezone: '+02:00' }, 'timezone', /IANA/],
      [{ categories: [], timezone: 'Europe/Nowhere' }, 'timezone', /IANA/],
      [{}, 'categories', /list/],
      ...[{ max: 0 }, { max: 101 }, { max: 1.5 }].map(
        (cap) =>
          [
            { categories: [{ ...NEWS, caps: [{ ...cap, per: '1h' }] }] },
            'categories.0.caps.0.max',
            /1–100/,
          ] as const,
      ),
      ...['0h', '8d', '169h', 'day', '1w', '60m', 24].map(
        (per) =>
          [
            { categories: [{ ...NEWS, caps: [{ max: 1, per }] }] },
            'categories.0.caps.0.per',
            /1h.*7d/,
          ] as const,
      ),
      [
        { categories: [{ ...NEWS, caps: new Array(5).fill({ max: 1, per: '7d' }) }] },
        'categories.0.caps',
        /4 entries/,
      ],
      [
        {
          categories: [
            NEWS,
            ...Array.from({ length: 20 }, (_, index) => ({ name: `more-${index}` })),
          ],
        },
        'categories',
        /20 entries/,
      ],
    ];
    for (const [body, path, message] of faults) {
      t.match(
        await put(body),
        { status: 400, body: { errors: [{ path, message }] } },
        JSON.stringify(body).slice(0, 80),
      );
    }
  },

  async 'who may: keys with admin set them, with override they ignore caps'(t, store) {
    const { api, put, get } = await startPolicies(t, store, 'rights');
    const admin = await api.key({ scopes: ['admin'] });
    const reader = await api.key({ scopes: ['read', 'send'] });
    const limited = await api.key({ scopes: ['admin'], appIds: [api.tenant.appId] });
    const overriding = await api.key({ scopes: ['send', 'override'] });
    t.match(await put({ categories: [NEWS, BREAKING] }, admin), { status: 200 });
    t.match(await put({ categories: [] }, reader), { status: 403 });
    t.match(await put({ categories: [] }, limited), { status: 403 });
    t.match(await get(reader), { status: 200 });
    const push = (more: object, token?: string) =>
      api.call('POST', '', { tagIds: [api.tenant.tagId], payload: { title: 'a' }, ...more }, token);
    t.match(await push({ caps: 'ignore' }, reader), {
      status: 403,
      body: { detail: /scope override/ },
    });
    t.match(await push({ caps: 'ignore' }, overriding), { status: 202 });
    t.match(await push({ caps: 'ignore' }), { status: 202 });
    t.match(await push({ category: 'breking' }), {
      status: 400,
      body: { errors: [{ path: 'category', message: /nearest is breaking/ }] },
    });
    t.match(await push({ category: 1 }), {
      status: 400,
      body: { errors: [{ path: 'category' }] },
    });
    t.match(await push({ caps: 'maybe' }), { status: 400, body: { errors: [{ path: 'caps' }] } });
    const known = async (more: object) =>
      (await api.call('GET', `/${await api.push({ ...more })}`)).body.category;
    t.equal(await known({}), 'news', 'the default one');
    t.equal(await known({ category: 'breaking' }), 'breaking');
  },

  async 'a push of a client without policies keeps nothing of them'(t, store) {
    const { api } = await startPolicies(t, store, 'without');
    const id = await api.push();
    const [row] = await store.sql`select category, caps from notifications where id = ${id}`;
    t.strictSame({ ...row }, { category: null, caps: null });
    const { body } = await api.call('GET', `/${id}`);
    t.notOk('category' in body || 'withheldCount' in body);
    t.match(
      await api.call('POST', '', {
        tagIds: [api.tenant.tagId],
        payload: { title: 'a' },
        category: 'news',
      }),
      { status: 400, body: { errors: [{ path: 'category', message: /policies have none/ }] } },
    );
  },
});
