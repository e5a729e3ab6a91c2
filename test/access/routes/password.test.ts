/** A password changed, and set by a link, over real HTTP. */

import t from 'tap';
import { makeLink } from '../../../src/access/accounts/links.ts';
import { consoleRoutes } from '../../../src/api/console-routes.ts';
import type { Store } from '../../../src/database/store.ts';
import { beginSession, makeConsoleApi, PASSWORD, signUpAndIn } from '../../support/accounts.ts';
import { secrets, startApiOn } from '../../support/api.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';

const ANN = 'ann@example.com';
const OTHER = 'incorrect horse battery';
const PASSWORDS = '/console/api/password';
const SESSION = '/console/api/session';

async function startConsole(t: Lifetime, store: Store) {
  const { baseUrl } = await startApiOn(t, store, consoleRoutes(makeConsoleApi(store)));
  return (path: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
    fetch(baseUrl + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'Sec-Fetch-Site': 'same-origin', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
}

t.test('password', (t) =>
  onEachStore(t, {
    'a change ends all other sessions and begins a new one here': async (t, store) => {
      const ann = await signUpAndIn(store.sql, { email: ANN, password: PASSWORD });
      const elsewhere = await beginSession(store.sql, ann.accountId);
      const ask = await startConsole(t, store);
      t.equal((await ask(SESSION, elsewhere.headers)).status, 200);
      const wrong = await ask(PASSWORDS, ann.headers, { currentPassword: 'x', newPassword: OTHER });
      t.match(await wrong.json(), { status: 400, errors: [{ path: 'currentPassword' }] });
      const short = { currentPassword: PASSWORD, newPassword: 'short' };
      t.equal((await ask(PASSWORDS, ann.headers, short)).status, 400);
      const body = { currentPassword: PASSWORD, newPassword: OTHER };
      const { Cookie = '', 'Sec-Fetch-Site': site = '' } = ann.headers;
      const forged = await ask(PASSWORDS, { Cookie, 'Sec-Fetch-Site': site }, body);
      t.equal(forged.status, 403, 'no CSRF token');
      const changed = await ask(PASSWORDS, ann.headers, body);
      t.equal(changed.status, 200);
      const [cookie = ''] = (changed.headers.get('set-cookie') ?? '').split(';');
      t.equal((await ask(SESSION, { Cookie: cookie })).status, 200);
      for (const { headers } of [ann, elsewhere]) {
        await until('it has ended', async () =>
          (await ask(SESSION, headers)).status === 401 ? true : null,
        );
      }
    },
    'a link sets it once': async (t, store) => {
      const { accountId } = await signUpAndIn(store.sql, { email: ANN });
      const link = { kind: 'reset', accountId, clientId: null } as const;
      const { path } = await makeLink(store.sql, secrets, link);
      t.match(path, /^\/console\/#\/reset\/tcl_[0-9A-Za-z]{32}$/, 'behind the #: no log has it');
      const ask = await startConsole(t, store);
      const reset = (token: string) => ask(`${PASSWORDS}/reset`, {}, { token, newPassword: OTHER });
      const token = path.split('/').at(-1) ?? '';
      t.match(await (await reset('tcl_x')).json(), { status: 400, errors: [{ path: 'token' }] });
      t.equal((await reset(token)).status, 204);
      t.equal((await reset(token)).status, 400);
      t.equal((await ask(SESSION, {}, { email: ANN, password: OTHER })).status, 200);
    },
  }),
);
