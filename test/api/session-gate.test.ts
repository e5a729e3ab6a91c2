/**
 * A session in place of a credential, over real HTTP: where a request must come from, what it must
 * carry, and what each role may do.
 */

import type { Test } from 'tap';
import t from 'tap';
import { deleteSession } from '../../src/access/sql/sessions.ts';
import { disableClient } from '../../src/clients/disable-client.ts';
import type { Store } from '../../src/database/store.ts';
import type { MemberRole } from '../../src/domain/caller.ts';
import type { ApiRoute, HttpRequest } from '../../src/http/handler.ts';
import { ELSEWHERE, signUpAndIn } from '../support/accounts.ts';
import { addTenant, bearer, secrets, startApiOn } from '../support/api.ts';
import { until } from '../support/poll.ts';
import { withStores } from '../support/store.ts';

type Shape = Pick<ApiRoute, 'method'> &
  ({ api: 'app' } | { api: 'admin'; needs: 'send' | 'read' | 'super-user' });

const route = (path: string, shape: Shape): ApiRoute => ({
  ...shape,
  operation: null,
  path,
  bodyBytesMax: 0,
  handle: (_request: HttpRequest, caller) => ({ status: 200, body: caller.userName }),
});

const ROUTES: readonly ApiRoute[] = [
  route('/admin', { api: 'admin', needs: 'super-user', method: 'GET' }),
  route('/admin', { api: 'admin', needs: 'super-user', method: 'POST' }),
  route('/admin/:client', { api: 'admin', needs: 'super-user', method: 'GET' }),
  route('/send/:client', { api: 'admin', needs: 'send', method: 'POST' }),
  route('/read/:client', { api: 'admin', needs: 'read', method: 'GET' }),
  route('/app', { api: 'app', method: 'GET' }),
];

async function populate(t: Test, store: Store, slug: string) {
  const { sql } = store;
  const tenant = await addTenant(sql, slug);
  const { clientId } = tenant;
  const member = (role: MemberRole) =>
    signUpAndIn(sql, { email: `${role}@${slug}.example`, roles: [[clientId, role]] });
  const { baseUrl } = await startApiOn(t, store, ROUTES);
  const ask = async (method: string, path: string, headers: Readonly<Record<string, string>>) => {
    const answer = await fetch(baseUrl + path, { method, headers });
    return { answer, status: answer.status, text: await answer.text() };
  };
  return { ...tenant, baseUrl, member, ask };
}

t.test('where it comes from', async (t) => {
  await withStores(t, async (t, store) => {
    const { ask, baseUrl, member, superUser } = await populate(t, store, 'demo');
    const { cookie, csrfToken } = await member('owner');
    const own = { Cookie: cookie, 'X-CSRF-Token': csrfToken };
    const { host } = new URL(baseUrl);
    const cases: readonly (readonly [string, string, Record<string, string>, number])[] = [
      ['our page', 'GET', { 'Sec-Fetch-Site': 'same-origin' }, 200],
      ['our page', 'POST', { 'Sec-Fetch-Site': 'same-origin', Origin: baseUrl }, 200],
      ['our page, without TLS', 'POST', { Origin: `http://${host}` }, 200],
      ['our page, without TLS', 'GET', {}, 200],
      ['nowhere', 'POST', {}, 403],
      ['another site', 'GET', { 'Sec-Fetch-Site': 'cross-site' }, 403],
      ['a neighbour', 'GET', { 'Sec-Fetch-Site': 'same-site' }, 403],
      ['the address line', 'GET', { 'Sec-Fetch-Site': 'none' }, 403],
      ['another origin', 'GET', { Origin: ELSEWHERE }, 403],
      ['another origin', 'POST', { Origin: ELSEWHERE }, 403],
      ['another port', 'POST', { Origin: 'http://127.0.0.1:1' }, 403],
      ['a frame in a sandbox', 'POST', { Origin: 'null' }, 403],
      ['two places', 'POST', { 'Sec-Fetch-Site': 'same-origin, cross-site' }, 403],
    ];
    for (const [what, method, headers, status] of cases) {
      const asked = await ask(method, '/admin', { ...own, ...headers, 'Tagcast-Client': 'demo' });
      t.equal(asked.status, status, `${method} from ${what}`);
      const { headers: told } = asked.answer;
      t.equal(told.get('access-control-allow-origin'), null, 'and no page elsewhere may read it');
      t.match(told.get('cache-control'), 'private', 'nor may a cache keep it for others');
    }
    const credential = await ask('POST', '/admin', {
      Cookie: cookie,
      Authorization: bearer(superUser),
      Origin: ELSEWHERE,
    });
    t.equal(credential.status, 200, 'a credential counts before the cookie');
    t.equal(credential.answer.headers.get('access-control-allow-origin'), '*');
  });
});

t.test('what it carries', async (t) => {
  await withStores(t, async (t, store) => {
    const { ask, member } = await populate(t, store, 'demo');
    await addTenant(store.sql, 'other');
    const ann = await member('owner');
    const ben = await member('viewer');
    const { headers } = ann;
    const without = { Cookie: ann.cookie, 'Sec-Fetch-Site': 'same-origin' };
    t.equal((await ask('GET', '/admin/demo', without)).status, 403, 'no CSRF token');
    const others = { ...without, 'X-CSRF-Token': ben.csrfToken };
    t.equal((await ask('GET', '/admin/demo', others)).status, 403, "another session's");
    t.equal((await ask('GET', '/admin/demo', headers)).text, 'owner@demo.example');
    t.equal((await ask('GET', '/admin', headers)).status, 400, 'it names no client');
    const named = { ...headers, 'Tagcast-Client': 'demo' };
    t.equal((await ask('GET', '/admin', named)).status, 200);
    t.equal((await ask('GET', '/admin', { ...headers, 'Tagcast-Client': 'other' })).status, 403);
    t.equal((await ask('GET', '/admin/other', named)).status, 403, 'the path counts');
    const [foreign, missing] = [
      await ask('GET', '/admin/other', headers),
      await ask('GET', '/admin/missing', headers),
    ];
    const said = ({ text }: { readonly text: string }) => JSON.parse(text).detail as unknown;
    t.equal(said(foreign), said(missing), 'nobody is told which clients there are');

    const none = await ask('GET', '/admin/demo', { ...headers, Cookie: 'tagcast_session=tcn_x' });
    t.equal(none.status, 401);
    t.equal(none.answer.headers.get('www-authenticate'), 'Session realm="tagcast"', 'no dialogue');
    const plain = await ask('GET', '/admin/demo', {});
    t.match(plain.answer.headers.get('www-authenticate'), 'Basic', 'as before without a cookie');
  });
});

t.test('each role, and its end within a second', async (t) => {
  await withStores(t, async (t, store) => {
    const { sql } = store;
    const { ask, member } = await populate(t, store, 'demo');
    const statusesOf = async (role: MemberRole) => {
      const { headers } = await member(role);
      const named = { ...headers, 'Tagcast-Client': 'demo' };
      const asked = [
        await ask('GET', '/admin/demo', headers),
        await ask('POST', '/send/demo', headers),
        await ask('GET', '/read/demo', headers),
        await ask('GET', '/app', named),
      ];
      return asked.map(({ status }) => status);
    };
    t.same(await statusesOf('owner'), [200, 200, 200, 403]);
    t.same(await statusesOf('publisher'), [403, 200, 200, 403]);
    t.same(await statusesOf('viewer'), [403, 403, 200, 403]);

    const { clientId } = await addTenant(sql, 'other');
    const eve = await signUpAndIn(sql, { email: 'eve@example.com', roles: [[clientId, 'owner']] });
    t.equal((await ask('GET', '/admin/other', eve.headers)).status, 200);
    await disableClient(sql, 'other');
    await until('the client is disabled', async () =>
      (await ask('GET', '/admin/other', eve.headers)).status === 403 ? true : null,
    );
    await deleteSession(sql, secrets.lookupHashes(eve.token));
    await until('the session has ended', async () =>
      (await ask('GET', '/admin/other', eve.headers)).status === 401 ? true : null,
    );
  });
});
