/** Signing up over real HTTP. */

import t from 'tap';
import type { Link } from '../../../src/access/accounts/links.ts';
import { makeLink } from '../../../src/access/accounts/links.ts';
import type { SignUpMode } from '../../../src/access/accounts/sign-up-mode.ts';
import { consoleRoutes } from '../../../src/api/console-routes.ts';
import { findClient } from '../../../src/clients/find-client.ts';
import type { Store } from '../../../src/database/store.ts';
import { ELSEWHERE, makeConsoleApi, PASSWORD } from '../../support/accounts.ts';
import { addTenant, secrets, startApiOn } from '../../support/api.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import { onEachStore } from '../../support/on-each-store.ts';

async function startConsole(t: Lifetime, store: Store, mode: SignUpMode) {
  const routes = consoleRoutes({ ...makeConsoleApi(store), mode });
  const { baseUrl } = await startApiOn(t, store, routes);
  return async (path: string, body?: unknown, site = 'same-origin') => {
    const answer = await fetch(`${baseUrl}/console/api/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'Sec-Fetch-Site': site, Origin: site === 'same-origin' ? baseUrl : ELSEWHERE },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as unknown };
  };
}

t.test('register', (t) =>
  onEachStore(t, {
    'open: the same answer for who has an account already': async (t, store) => {
      const ask = await startConsole(t, store, 'open');
      t.same(await ask('settings'), { status: 200, body: { signUp: 'open' } });
      const asked = { email: 'ann@example.com', password: PASSWORD, clientName: ' Acme ' };
      t.same(await ask('register', asked), { status: 202, body: {} });
      t.match(await findClient(store.sql, 'acme'), { name: 'Acme' });
      const again = { ...asked, password: 'another password' };
      t.same(await ask('register', again), { status: 202, body: {} });
      t.match(await ask('session', { email: asked.email, password: PASSWORD }), {
        status: 200,
        body: { clients: [{ clientId: 'acme', role: 'owner' }] },
      });
      t.match(await ask('register', asked, 'cross-site'), { status: 403 });
    },
    'an operator is made by the command line alone': async (t, store) => {
      const { clientId } = await addTenant(store.sql, 'demo');
      const open = await startConsole(t, store, 'open');
      const closed = await startConsole(t, store, 'invitation');
      const linkOf = async (wanted: Link) =>
        (await makeLink(store.sql, secrets, wanted)).path.split('/').at(-1);
      const asked = (email: string, more: object) => ({ email, password: PASSWORD, ...more });
      const invitation = await linkOf({ kind: 'sign-up' });
      const membership = await linkOf({ kind: 'invitation', clientId, role: 'owner' });
      for (const [ask, email, more] of [
        [open, 'ann@example.com', { clientName: 'Acme' }],
        [closed, 'ben@example.com', { clientName: 'Bolt', invitation }],
        [closed, 'cem@example.com', { invitation: membership }],
      ] as const) {
        const forged = asked(email, { ...more, isOperator: true });
        t.match(await ask('register', forged), {
          status: 400,
          body: { errors: [{ path: 'isOperator' }] },
        });
        t.equal((await ask('register', asked(email, more))).status, 202);
        t.match(await ask('session', asked(email, {})), {
          status: 200,
          body: { account: { email, isOperator: false } },
        });
      }
      const [operators] = await store.sql`
        select count(*) as count from accounts where is_operator`;
      t.same(operators, { count: 0 });
    },
    'an invitation is valid for an hour, whoever makes it': async (t, store) => {
      const { clientId } = await addTenant(store.sql, 'demo');
      const ask = await startConsole(t, store, 'invitation');
      const wanted: readonly Link[] = [
        { kind: 'sign-up' },
        { kind: 'invitation', clientId, role: 'viewer' },
      ];
      const links = await Promise.all(wanted.map((one) => makeLink(store.sql, secrets, one)));
      const [hour] = await store.sql`
        select count(*) as count from one_time_links
        where ends_at between now() + interval '59 minutes' and now() + interval '60 minutes'`;
      t.same(hour, { count: 2 });
      await store.sql`update one_time_links set ends_at = now()`;
      for (const [index, { path }] of links.entries()) {
        const answered = await ask('register', {
          email: 'ann@example.com',
          password: PASSWORD,
          invitation: path.split('/').at(-1),
          ...(index === 0 ? { clientName: 'Acme' } : {}),
        });
        t.match(answered, { status: 400, body: { errors: [{ path: 'invitation' }] } });
      }
      t.same(await store.sql`select from accounts`, [], 'nobody got in');
    },
    'off: nobody': async (t, store) => {
      const ask = await startConsole(t, store, 'off');
      t.same(await ask('settings'), { status: 200, body: { signUp: 'off' } });
      const asked = { email: 'ann@example.com', password: PASSWORD, clientName: 'Acme' };
      t.match(await ask('register', asked), { status: 403 });
      t.equal(await findClient(store.sql, 'acme'), null);
    },
    'what is wrong is said at the field': async (t, store) => {
      const ask = await startConsole(t, store, 'open');
      const good = { email: 'ann@example.com', password: PASSWORD, clientName: 'Acme' };
      const cases: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
        [{ email: 'ann' }, 'email'],
        [{ email: null }, 'email'],
        [{ password: 'eleven char' }, 'password'],
        [{ password: 'x'.repeat(257) }, 'password'],
        [{ clientName: '  ' }, 'clientName'],
        [{ clientName: undefined }, 'clientName'],
        [{ clientName: 'a\0b' }, 'clientName'],
        [{ invitation: 'tcl_guessed' }, 'invitation'],
        [{ invitation: '' }, 'invitation'],
      ];
      for (const [wrong, path] of cases) {
        const answered = await ask('register', { ...good, ...wrong });
        t.match(answered, { status: 400, body: { errors: [{ path }] } }, JSON.stringify(wrong));
      }
    },
  }),
);
