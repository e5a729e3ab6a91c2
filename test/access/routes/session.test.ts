/** Signing in and out over real HTTP. */

import t from 'tap';
import { makeLink } from '../../../src/access/accounts/links.ts';
import { consoleRoutes } from '../../../src/api/console-routes.ts';
import type { ServerOptions } from '../../../src/api/server.ts';
import type { Store } from '../../../src/database/store.ts';
import {
  addAccount,
  beginSession,
  ELSEWHERE,
  makeConsoleApi,
  PASSWORD,
  signUpAndIn,
} from '../../support/accounts.ts';
import { addTenant, secrets, startApiOn } from '../../support/api.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';

const ANN = 'ann@example.com';
const SESSION = '/console/api/session';

async function startConsole(t: Lifetime, store: Store, more: Partial<ServerOptions> = {}) {
  const { baseUrl } = await startApiOn(t, store, consoleRoutes(makeConsoleApi(store)), more);
  return (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: unknown,
  ) =>
    fetch(baseUrl + path, {
      method,
      headers: { 'Sec-Fetch-Site': 'same-origin', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}

t.test('the session', (t) =>
  onEachStore(t, {
    'a session that somebody ends in the moment it is made': async (t, store) => {
      const { sql } = store;
      await addAccount(sql, { email: ANN, password: PASSWORD, roles: [] });
      const ask = await startConsole(t, store);
      await sql.unsafe(`
        create function end_at_once() returns trigger language plpgsql as $$
          begin delete from sessions where token_hash = new.token_hash; return null; end $$`);
      await sql.unsafe(
        'create trigger at_once after insert on sessions for each row execute function end_at_once()',
      );
      const signedIn = await ask('POST', SESSION, {}, { email: ANN, password: PASSWORD });
      await sql.unsafe('drop trigger at_once on sessions');
      t.equal(signedIn.status, 401);
      t.match(await signedIn.json(), { detail: 'This session was ended from elsewhere.' });
      t.equal(signedIn.headers.get('set-cookie'), null);
    },

    'in with e-mail and password, out again': async (t, store) => {
      const { clientId } = await addTenant(store.sql, 'demo');
      const roles = [[clientId, 'publisher']] as const;
      const accountId = await addAccount(store.sql, { email: ANN, password: PASSWORD, roles });
      const ask = await startConsole(t, store);
      const signedIn = await ask(
        'POST',
        SESSION,
        {},
        { email: 'Ann@Example.com', password: PASSWORD },
      );
      t.equal(signedIn.status, 200);
      t.equal(signedIn.headers.get('cache-control'), 'no-store');
      const [cookie = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';');
      t.match(
        signedIn.headers.get('set-cookie'),
        /^tagcast_session=tcn_\w+; Path=\/; HttpOnly; SameSite=Lax/,
      );
      const session = (await signedIn.json()) as { readonly csrfToken: string };
      t.match(session, {
        account: { id: accountId, email: ANN, isOperator: false },
        clients: [{ clientId: 'demo', name: 'demo', role: 'publisher' }],
      });
      const shown = await ask('GET', SESSION, { Cookie: cookie });
      t.same(await shown.json(), session, 'a page that is loaded again finds it');
      t.equal((await ask('DELETE', SESSION, { Cookie: cookie })).status, 403, 'no CSRF token');
      const headers = { Cookie: cookie, 'X-CSRF-Token': session.csrfToken };
      const out = await ask('DELETE', SESSION, headers);
      t.equal(out.status, 204);
      t.match(out.headers.get('set-cookie'), /^tagcast_session=; .*Max-Age=0/);
      await until('the session has ended', async () =>
        (await ask('GET', SESSION, { Cookie: cookie })).status === 401 ? true : null,
      );
    },
    'the same answer whether there is an account or not': async (t, store) => {
      await addAccount(store.sql, { email: ANN, password: PASSWORD });
      const ask = await startConsole(t, store);
      const told = async (body: unknown) => {
        const answer = await ask('POST', SESSION, { 'X-Request-Id': 'same' }, body);
        const { status } = answer;
        return { status, text: await answer.text(), cookie: answer.headers.get('set-cookie') };
      };
      const wrong = await told({ email: ANN, password: 'a wrong password' });
      t.match(wrong, { status: 401, cookie: null });
      t.same(await told({ email: 'nobody@example.com', password: PASSWORD }), wrong);
      for (let n = 0; n < 9; n += 1) await told({ email: ANN, password: 'a wrong password' });
      const refused = await ask('POST', SESSION, {}, { email: ANN, password: PASSWORD });
      t.equal(refused.status, 429, 'too many, also for the right one');
      t.match(refused.headers.get('retry-after'), /^\d+$/);
    },
    'nobody elsewhere signs a browser in, and no page elsewhere asks': async (t, store) => {
      await addAccount(store.sql, { email: ANN, password: PASSWORD });
      const ask = await startConsole(t, store);
      const body = { email: ANN, password: PASSWORD };
      const foreign = { 'Sec-Fetch-Site': 'cross-site', Origin: ELSEWHERE };
      const refused = await ask('POST', SESSION, foreign, body);
      t.equal(refused.status, 403);
      t.equal(refused.headers.get('set-cookie'), null);
      t.equal(refused.headers.get('access-control-allow-origin'), null);
      const preflight = await ask('OPTIONS', SESSION, {
        ...foreign,
        'Access-Control-Request-Headers': 'x-csrf-token',
      });
      t.equal(preflight.headers.get('access-control-allow-origin'), null);
      t.equal(preflight.headers.get('access-control-allow-headers'), null);
      const unknown = await ask('GET', '/console/api/nothing', foreign);
      t.equal(unknown.headers.get('access-control-allow-origin'), null);
    },
    'a link signs in once, and needs nothing else': async (t, store) => {
      const accountId = await addAccount(store.sql, { email: ANN });
      const { path } = await makeLink(store.sql, secrets, { kind: 'sign-in', accountId });
      const link = path.split('/').at(-1);
      const ask = await startConsole(t, store);
      t.equal((await ask('POST', SESSION, {}, { link })).status, 200);
      t.equal((await ask('POST', SESSION, {}, { link })).status, 401);
      for (const body of [{}, { link, email: ANN }, { email: ANN }, { password: PASSWORD }]) {
        t.equal((await ask('POST', SESSION, {}, body)).status, 400, JSON.stringify(body));
      }
    },
    'signing in ends the session that the browser had before': async (t, store) => {
      const ann = await signUpAndIn(store.sql, { email: ANN, password: PASSWORD });
      const elsewhere = await beginSession(store.sql, ann.accountId);
      const ask = await startConsole(t, store);
      const hasEnded = async ({
        headers,
      }: {
        readonly headers: Readonly<Record<string, string>>;
      }) => (await ask('GET', SESSION, headers)).status === 401;
      const wrong = { email: ANN, password: 'a wrong password' };
      t.equal((await ask('POST', SESSION, { Cookie: ann.cookie }, wrong)).status, 401);
      const count = async () => (await store.sql`select from sessions`).length;
      t.equal(await count(), 2, 'a wrong password ends nothing');
      const right = { email: ANN, password: PASSWORD };
      const again = await ask('POST', SESSION, { Cookie: ann.cookie }, right);
      t.equal(again.status, 200);
      const [Cookie = ''] = (again.headers.get('set-cookie') ?? '').split(';');
      await until('it has ended', async () => ((await hasEnded(ann)) ? true : null));
      t.notOk(await hasEnded(elsewhere), 'that of another browser goes on');
      const ben = await addAccount(store.sql, { email: 'ben@example.com' });
      const { path } = await makeLink(store.sql, secrets, { kind: 'sign-in', accountId: ben });
      const link = path.split('/').at(-1);
      t.equal((await ask('POST', SESSION, { Cookie }, { link })).status, 200);
      await until("so does another's", async () =>
        (await hasEnded({ headers: { Cookie } })) ? true : null,
      );
    },
    'no cache keeps an answer': async (t, store) => {
      const { clientId } = await addTenant(store.sql, 'demo');
      const ann = await signUpAndIn(store.sql, { email: ANN, roles: [[clientId, 'owner']] });
      const ask = await startConsole(t, store);
      const headers = { ...ann.headers, 'Tagcast-Client': 'demo' };
      for (const path of ['session', 'settings', 'members', 'credentials', 'audit']) {
        const answer = await ask('GET', `/console/api/${path}`, headers);
        t.equal(answer.status, 200, path);
        t.equal(answer.headers.get('cache-control'), 'no-store', path);
      }
      const refused = await ask('GET', '/console/api/members', {});
      t.equal(refused.status, 401);
      t.equal(refused.headers.get('cache-control'), 'no-store', 'nor a problem');
    },
    'out everywhere': async (t, store) => {
      const ann = await signUpAndIn(store.sql, { email: ANN });
      const elsewhere = await beginSession(store.sql, ann.accountId);
      const ben = await signUpAndIn(store.sql, { email: 'ben@example.com' });
      const ask = await startConsole(t, store);
      for (const { headers } of [ann, elsewhere, ben]) {
        t.equal((await ask('GET', SESSION, headers)).status, 200);
      }
      t.equal((await ask('POST', `${SESSION}/end-all`, ann.headers)).status, 204);
      for (const { headers } of [ann, elsewhere]) {
        await until('it has ended', async () =>
          (await ask('GET', SESSION, headers)).status === 401 ? true : null,
        );
      }
      t.equal((await ask('GET', SESSION, ben.headers)).status, 200, "another's goes on");
    },
    'behind a proxy with TLS the cookie is for TLS only': async (t, store) => {
      await addAccount(store.sql, { email: ANN, password: PASSWORD });
      const body = { email: ANN, password: PASSWORD };
      const proxied = { 'X-Forwarded-For': '192.0.2.1', 'X-Forwarded-Proto': 'https' };
      const trusting = await startConsole(t, store, { trustedProxies: ['127.0.0.1'] });
      const secure = await trusting('POST', SESSION, proxied, body);
      t.match(secure.headers.get('set-cookie'), /^__Host-tagcast_session=.*; Secure$/);
      const [cookie = ''] = (secure.headers.get('set-cookie') ?? '').split(';');
      t.equal((await trusting('GET', SESSION, { ...proxied, Cookie: cookie })).status, 200);
      t.equal((await trusting('GET', SESSION, { Cookie: cookie })).status, 401, 'without TLS');
      const other = await startConsole(t, store);
      const plain = await other('POST', SESSION, proxied, body);
      t.match(plain.headers.get('set-cookie'), /^tagcast_session=/, 'nobody trusts that one');
    },
  }),
);
