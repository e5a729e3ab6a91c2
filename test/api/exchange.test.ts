/**
 * Who may do what: roles, APIs and tenants crossed, over real HTTP with credentials from a store.
 */

import type { Test } from 'tap';
import t from 'tap';
import { disableClient } from '../../src/clients/disable-client.ts';
import type { Store } from '../../src/database/store.ts';
import type { Api as ApiName, ApiRoute } from '../../src/http/handler.ts';
import { addTenant, basic, bearer, startApiOn } from '../support/api.ts';
import { withStores } from '../support/store.ts';

const route = (api: ApiName, path: string): ApiRoute => ({
  ...(api === 'app' ? { api } : { api, needs: 'super-user' }),
  operation: null,
  method: 'GET',
  path,
  bodyBytesMax: 0,
  handle: (_request, caller) => ({ status: 200, body: caller.userName }),
});

const ROUTES = [
  route('app', '/app'),
  route('notification', '/notification'),
  route('admin', '/admin'),
  route('app', '/app/:client'),
  route('notification', '/notification/:client'),
  route('admin', '/admin/:client'),
];

type Scene = (t: Test, store: Store) => Promise<void>;

/** Played on every store at the end of this file. */
const scenes: { readonly name: string; readonly play: Scene }[] = [];
const scene = (name: string, play: Scene): number => scenes.push({ name, play });

scene('roles, APIs, tenants and both ways in', async (t, store) => {
  const demo = await addTenant(store.sql, 'demo-1');
  await addTenant(store.sql, 'other-1');
  const { baseUrl } = await startApiOn(t, store, ROUTES);
  const callers = [
    { role: 'api user', credential: demo.apiUser, apis: ['app'] },
    { role: 'super user', credential: demo.superUser, apis: ['notification', 'admin'] },
  ] as const;
  for (const { role, credential, apis } of callers) {
    for (const api of ['app', 'notification', 'admin'] as const) {
      for (const client of ['', '/demo-1', '/other-1', '/missing']) {
        for (const [method, header] of [
          ['bearer', bearer(credential)],
          ['basic', basic(credential)],
        ] as const) {
          const allowed =
            (apis as readonly string[]).includes(api) && ['', '/demo-1'].includes(client);
          const response = await fetch(`${baseUrl}/${api}${client}`, {
            headers: { Authorization: header },
          });
          const body = await response.text();
          const what = `${role} with ${method} on ${api}${client}`;
          t.equal(response.status, allowed ? 200 : 403, what);
          t.equal(body.includes('"status":403'), !allowed, what);
          t.equal(
            /^@\d+$/.test(response.headers.get('deprecation') ?? ''),
            method === 'basic' && api !== 'app',
            `${what}: deprecation`,
          );
        }
      }
    }
  }
});

scene('no, wrong and disabled credentials', async (t, store) => {
  const demo = await addTenant(store.sql, 'demo-2');
  const other = await addTenant(store.sql, 'other-2');
  const { baseUrl } = await startApiOn(t, store, ROUTES);
  const ask = (header: string | null, more: object = {}) =>
    fetch(`${baseUrl}/app`, {
      headers: header === null ? {} : { Authorization: header, ...more },
    });
  for (const header of [
    null,
    'Bearer',
    'Bearer tca_wrong',
    'Basic !!!',
    basic({ ...demo.apiUser, password: 'x' }),
  ]) {
    const response = await ask(header);
    t.equal(response.status, 401, String(header));
    t.equal(
      response.headers.get('www-authenticate'),
      'Bearer realm="tagcast", Basic realm="tagcast"',
    );
    t.equal(response.headers.get('content-type'), 'application/problem+json');
    t.match(await response.json(), { status: 401, title: 'Unauthorized' });
  }
  await disableClient(store.sql, 'other-2');
  t.equal((await ask(bearer(other.apiUser))).status, 403);
  const preflight = await fetch(`${baseUrl}/app`, {
    method: 'OPTIONS',
    headers: { Origin: 'null' },
  });
  t.equal(preflight.status, 204, 'a preflight needs no credential');
});

scene(
  'many wrong credentials are told to wait; a right one is served all the same',
  async (t, store) => {
    const demo = await addTenant(store.sql, 'demo-3');
    const { baseUrl } = await startApiOn(t, store, ROUTES, { trustedProxies: ['127.0.0.1'] });
    const ask = (header: string, address: string) =>
      fetch(`${baseUrl}/app`, { headers: { Authorization: header, 'X-Forwarded-For': address } });
    const guesses = Array.from({ length: 60 }, (_, index) =>
      ask(`Bearer tca_guess${index}`, '198.51.100.7'),
    );
    const answers = await Promise.all(guesses);
    const statuses = answers.map(({ status }) => status);
    t.same(new Set(statuses), new Set([401, 429]));
    const refused = answers.find(({ status }) => status === 429);
    t.ok(Number(refused?.headers.get('retry-after')) > 0);
    t.equal((await ask('Bearer tca_more', '198.51.100.7')).status, 429);
    t.equal((await ask('Bearer tca_more', '198.51.100.8')).status, 401, 'from elsewhere');
    t.equal((await ask(bearer(demo.apiUser), '198.51.100.7')).status, 200, 'the right one');
    t.equal(
      (await ask(bearer(demo.superUser), '198.51.100.7')).status,
      403,
      'right, and not for this',
    );
  },
);

t.test('on every store', async (t) => {
  await withStores(t, async (t, store) => {
    for (const { name, play } of scenes) await t.test(name, (t) => play(t, store));
  });
});
