/** Basic credentials that a browser remembers, and that pages of other sites make it send. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../src/database/store.ts';
import type { ApiRoute } from '../../src/http/handler.ts';
import { ELSEWHERE } from '../support/accounts.ts';
import { addTenant, basic, bearer, startApiOn } from '../support/api.ts';
import { ask as askAs, makeAgent } from '../support/route-fuzz/ask.ts';
import { temporaryStore } from '../support/store.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const done = () => ({ status: 200, body: 'done' });
const shared = { operation: null, bodyBytesMax: 100, handle: done } as const;
const ROUTES: readonly ApiRoute[] = METHODS.flatMap((method): readonly ApiRoute[] => [
  { ...shared, api: 'notification', needs: 'any-scope', method, path: '/notification' },
  { ...shared, api: 'admin', needs: 'any-scope', method, path: '/admin' },
  { ...shared, api: 'app', method, path: '/app' },
]);
const CHANGING = METHODS.filter((method) => method !== 'GET');

const cross = (mode: string, more: Readonly<Record<string, string>> = {}) => ({
  'Sec-Fetch-Site': 'cross-site',
  'Sec-Fetch-Mode': mode,
  Origin: ELSEWHERE,
  ...more,
});
const JSON_TYPE = { 'Content-Type': 'application/json' };

async function open(t: Test, store: Store, slug: string, corsOrigins: readonly string[]) {
  const { superUser, apiUser } = await addTenant(store.sql, slug);
  const { baseUrl } = await startApiOn(t, store, ROUTES, { corsOrigins });
  const agent = makeAgent(1);
  t.teardown(() => agent.destroy());
  const credentialOf = (path: string) => (path === '/app' ? apiUser : superUser);
  const ask = (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    form = basic,
  ) =>
    // Node's own fetch would say by itself in which mode it asks.
    askAs(agent, baseUrl, {
      method,
      segments: path.split('/'),
      query: {},
      headers: { authorization: form(credentialOf(path)), ...headers },
      body: undefined,
    });
  const statusOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).status;
  return { ask, statusOf, baseUrl };
}

t.test('passwords that a browser remembers', async (t) => {
  const store = await temporaryStore(t);

  await t.test('what a form, an image or a link of another site sends', async (t) => {
    const { ask, statusOf } = await open(t, store, 'forms', ['*']);
    for (const path of ['/notification', '/admin', '/app']) {
      for (const method of CHANGING) {
        for (const mode of ['no-cors', 'navigate']) {
          t.equal(await statusOf(method, path, cross(mode)), 403, `${method} ${path} ${mode}`);
          const sibling = { 'Sec-Fetch-Site': 'same-site' };
          t.equal(await statusOf(method, path, cross(mode, sibling)), 403, 'a sibling domain');
        }
      }
      t.equal(await statusOf('GET', path, cross('navigate')), 200, 'it changes nothing');
    }
    const refused = await ask('POST', '/admin', cross('no-cors'));
    t.match(JSON.parse(refused.text), { detail: /page of another site/ });
  });

  await t.test(
    'a script of another site, which asks the browser to add the password',
    async (t) => {
      const { statusOf } = await open(t, store, 'scripts', ['*']);
      for (const path of ['/notification', '/admin']) {
        const simple = [{}, { 'Content-Type': 'text/plain;charset=UTF-8' }];
        for (const type of simple) {
          t.equal(await statusOf('POST', path, cross('cors', type)), 403, 'no preflight');
          const old = { Origin: ELSEWHERE, ...type };
          t.equal(await statusOf('POST', path, old), 403, 'an old browser, or no TLS');
        }
        t.equal(await statusOf('POST', path, cross('cors', JSON_TYPE)), 200, 'after a preflight');
        t.equal(await statusOf('DELETE', path, cross('cors')), 200, 'likewise');
      }
      t.equal(
        await statusOf('POST', '/app', cross('cors')),
        200,
        'the credential of an app is public',
      );
    },
  );

  await t.test('who is none of these', async (t) => {
    const { statusOf, baseUrl } = await open(t, store, 'others', [ELSEWHERE]);
    t.equal(await statusOf('POST', '/admin', cross('cors')), 200, 'an origin that is named');
    t.equal(await statusOf('POST', '/admin', cross('navigate')), 403, 'but not by its forms');
    t.equal(await statusOf('POST', '/admin', {}), 200, 'no browser');
    t.equal(await statusOf('POST', '/admin', { Origin: baseUrl }), 200, 'our own page');
    const own = { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'no-cors' };
    t.equal(await statusOf('POST', '/admin', own), 200, 'our own page');
    t.equal(await statusOf('POST', '/admin', cross('no-cors'), bearer), 200, 'nobody remembers it');
  });
});
