/** Credentials as they are made, shown and rotated. */

import t from 'tap';
import {
  createCredential,
  revealCredential,
  rotateCredential,
  secretKeyFault,
} from '../../src/access/credentials.ts';
import { createSecrets } from '../../src/access/secrets.ts';
import { addTenant, secrets } from '../support/api.ts';
import { withStores } from '../support/store.ts';

t.test('made by the system, kept unreadable, shown again, rotated', async (t) => {
  await withStores(t, async (t, { sql }) => {
    const tenant = await addTenant(sql, 'demo');
    const { clientId, appId, superUser, apiUser } = tenant;
    t.match(superUser.token, /^tcs_[0-9A-Za-z]{32}$/);
    t.match(apiUser.token, /^tca_[0-9A-Za-z]{32}$/);
    t.match(superUser.username, /^demo-super-[0-9a-z]{8}$/);
    t.match(apiUser.username, new RegExp(`^demo-app-${appId}-[0-9a-z]{8}$`));

    const stored = JSON.stringify(await sql`select * from credentials`);
    for (const { token, password } of [superUser, apiUser]) {
      t.notOk(stored.includes(token) || stored.includes(password), 'nothing is stored in the open');
    }

    const reveal = (id: number | null) => revealCredential(sql, secrets, { clientId, appId: id });
    t.same(await reveal(null), { kind: 'revealed', credential: superUser });
    t.same(await reveal(appId), { kind: 'revealed', credential: apiUser });
    t.same(await reveal(appId + 1), { kind: 'none' });
    const others = createSecrets('another key than the one it was made with');
    t.same(await revealCredential(sql, others, { clientId, appId }), {
      kind: 'unreadable',
      keyId: secrets.keyId,
    });

    const owner = { clientId, clientSlug: 'demo', appId };
    const first = await rotateCredential(sql, secrets, owner, 168);
    const second = await rotateCredential(sql, secrets, owner, 24);
    t.equal(new Set([apiUser.token, first.token, second.token]).size, 3);
    t.same(await reveal(appId), { kind: 'revealed', credential: second });
    t.same(
      await reveal(null),
      { kind: 'revealed', credential: superUser },
      'the super user keeps his',
    );
    const [ends] = await sql`
      select count(*) as late from credentials where expires_at > now() + interval '25 hours'`;
    t.same(ends, { late: 0 }, 'a shorter grace later ends the longer one too');
    await t.rejects(rotateCredential(sql, secrets, owner, 169), RangeError);
    await t.rejects(createCredential(sql, secrets, { ...owner, clientId: 0 }));
  });
});

t.test('another SECRET_KEY than that of the credentials in force is noticed', async (t) => {
  await withStores(t, async (t, { sql }) => {
    const others = createSecrets('another key than the one it was made with');
    t.equal(await secretKeyFault(sql, others), null, 'an empty database takes any');
    const { clientId, slug, appId } = await addTenant(sql, 'demo');
    t.equal(await secretKeyFault(sql, secrets), null);
    const fault = await secretKeyFault(sql, others);
    t.match(fault, /^SECRET_KEY: /);
    t.ok(fault?.includes(secrets.keyId) && fault.includes(others.keyId));
    for (const id of [appId, null]) {
      await rotateCredential(sql, others, { clientId, clientSlug: slug, appId: id }, 0);
    }
    t.equal(await secretKeyFault(sql, others), null, 'what has ended does not count');
  });
});
