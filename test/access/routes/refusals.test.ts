/** Links that do not exist, presented over real HTTP. */

import t from 'tap';
import { makeLink } from '../../../src/access/accounts/links.ts';
import { consoleRoutes } from '../../../src/api/console-routes.ts';
import { addAccount, makeConsoleApi, PASSWORD } from '../../support/accounts.ts';
import { secrets, startApiOn } from '../../support/api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

/** `FAILURES_MAX`. */
const FAILURES_MAX = 30;
const TOKEN = 'tcl_guessed';

t.test('guessed links', (t) =>
  onEachStore(t, {
    'from one network are refused together, and a right one is served': async (t, store) => {
      const { sql } = store;
      const api = { ...makeConsoleApi(store), mode: 'off' } as const;
      const { failures } = api;
      const { baseUrl } = await startApiOn(t, store, consoleRoutes(api), { failures });
      const ask = (path: string, body: object, headers = {}) =>
        fetch(`${baseUrl}/console/api/${path}`, {
          method: 'POST',
          headers: { 'Sec-Fetch-Site': 'same-origin', ...headers },
          body: JSON.stringify(body),
        });
      const guesses = [
        () => ask('session', { link: TOKEN }),
        () => ask('password/reset', { token: TOKEN, newPassword: PASSWORD }),
        () => ask('register', { email: 'a@example.com', password: PASSWORD, invitation: TOKEN }),
      ];
      const statuses: number[] = [];
      for (let n = 0; n < FAILURES_MAX; n += guesses.length) {
        for (const guess of guesses) statuses.push((await guess()).status);
      }
      t.same([...new Set(statuses)], [401, 400]);
      for (const guess of guesses) {
        const refused = await guess();
        t.equal(refused.status, 429);
        t.match(refused.headers.get('retry-after'), /^\d+$/);
        t.match(await refused.json(), { detail: /wrong credentials came from this address/ });
      }
      const accountId = await addAccount(sql, { email: 'ann@example.com' });
      const { path } = await makeLink(sql, secrets, { kind: 'sign-in', accountId });
      const right = await ask('session', { link: path.split('/').at(-1) });
      t.equal(right.status, 200, 'it waits for nobody');
    },
  }),
);
