/** The credentials that owners see. */

import t from 'tap';
import { rotateCredential } from '../../../src/access/credentials.ts';
import { consoleRoutes } from '../../../src/api/console-routes.ts';
import { makeConsoleApi, signUpAndIn } from '../../support/accounts.ts';
import { addTenant, secrets, startApiOn } from '../../support/api.ts';
import { withStores } from '../../support/store.ts';

t.test('those in force, of this client, uncached', async (t) => {
  await withStores(t, async (t, store) => {
    const { sql } = store;
    const { clientId, appId, superUser } = await addTenant(sql, 'demo');
    await addTenant(sql, 'other');
    const owner = { clientId, clientSlug: 'demo' };
    const apiUser = await rotateCredential(sql, secrets, { ...owner, appId }, 1);
    const ann = await signUpAndIn(sql, { email: 'ann@example.com', roles: [[clientId, 'owner']] });
    const { baseUrl } = await startApiOn(t, store, consoleRoutes(makeConsoleApi(store)));
    const answer = await fetch(`${baseUrl}/console/api/credentials`, {
      headers: { ...ann.headers, 'Tagcast-Client': 'demo' },
    });
    t.equal(answer.headers.get('cache-control'), 'no-store');
    const shown = ({ username, password, token }: typeof apiUser) => ({
      userName: username,
      password,
      token,
    });
    t.same(await answer.json(), {
      superUser: shown(superUser),
      apps: [{ appId, name: 'App', apiUser: shown(apiUser) }],
    });
  });
});
