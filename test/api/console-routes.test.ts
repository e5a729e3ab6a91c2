/** The console's own routes that concern a client count among the requests of its publishers. */

import t from 'tap';
import { consoleRoutes } from '../../src/api/console-routes.ts';
import { changeClientLimits } from '../../src/clients/client-limits.ts';
import { makeConsoleApi, signUpAndIn } from '../support/accounts.ts';
import { addTenant, startApiOn } from '../support/api.ts';
import { onEachStore } from '../support/on-each-store.ts';

const ASKED_AT_ONCE = 5;

t.test('rates of the console', (t) =>
  onEachStore(t, {
    'each route of a client is held to its rates': async (t, store) => {
      const { clientId } = await addTenant(store.sql, 'demo');
      const { headers } = await signUpAndIn(store.sql, {
        email: 'ann@example.com',
        roles: [[clientId, 'owner']],
      });
      await changeClientLimits(store.sql, 'demo', { credentialRequestsPerSecond: 1 });
      const routes = consoleRoutes(makeConsoleApi(store));
      const { baseUrl } = await startApiOn(t, store, routes);
      const ask = (method: string, path: string) =>
        fetch(baseUrl + path.replace(':id', '1'), {
          method,
          headers: { ...headers, 'Tagcast-Client': 'demo' },
        });
      // From now on the session is in memory, and requests at once are counted within a second.
      t.equal((await ask('GET', '/console/api/session')).status, 200);
      const ofClient = routes.flatMap((route) =>
        route.api === 'console' && route.needs === 'owner' ? [route] : [],
      );
      t.ok(ofClient.length > 0);
      for (const { method, path } of ofClient) {
        const asked = Array.from({ length: ASKED_AT_ONCE }, () => ask(method, path));
        const refused = (await Promise.all(asked)).filter(({ status }) => status === 429);
        t.ok(refused.length > 0, `${method} ${path}`);
        t.equal(refused[0]?.headers.get('retry-after'), '1');
        t.match(await refused[0]?.json(), { detail: /its limit credentialRequestsPerSecond\./ });
      }
    },
  }),
);
