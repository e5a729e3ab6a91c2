/** The link that the start of a demo prints. */

import t from 'tap';
import { Sessions } from '../../../src/access/accounts/sessions.ts';
import { signInByLink } from '../../../src/access/accounts/sign-in.ts';
import { makeDemoLink } from '../../../src/app/demo/demo-link.ts';
import { makeAccountParts } from '../../support/accounts.ts';
import { addTenant, secrets } from '../../support/api.ts';
import { withStores } from '../../support/store.ts';

const HERE = { address: '192.0.2.1', requestId: 'r-1' };

t.test('each start makes a new one, which signs in once as an owner', async (t) => {
  await withStores(t, async (t, store) => {
    const { sql } = store;
    const parts = makeAccountParts(store);
    await addTenant(sql, 'demo');
    const tokenOf = async () =>
      (await makeDemoLink(sql, secrets, 'demo')).path.split('/').at(-1) ?? '';
    const [first, second] = [await tokenOf(), await tokenOf()];
    t.same(await signInByLink(parts, first, HERE), { kind: 'wrong' }, 'of the start before');
    const signedIn = await signInByLink(parts, second, HERE);
    if (signedIn.kind !== 'signed-in') throw new Error(signedIn.kind);
    t.match(await new Sessions(sql, secrets).authenticate(signedIn.token), {
      isOperator: false,
      memberships: [{ clientSlug: 'demo', role: 'owner' }],
    });
    t.same(await signInByLink(parts, second, HERE), { kind: 'wrong' }, 'once');
  });
});
