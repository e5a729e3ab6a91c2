/** Signing up over real HTTP. */

import t from 'tap';
import type { SignUpMode } from '../../../src/access/accounts/sign-up-mode.ts';
import { consoleRoutes } from '../../../src/http/console/routes.ts';
import { findClient } from '../../../src/store/clients/find-client.ts';
import type { Store } from '../../../src/store/store.ts';
import { ELSEWHERE, makeConsoleApi, PASSWORD } from '../../support/accounts.ts';
import { startApiOn } from '../../support/api.ts';
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
