/** Who may change members at the moment of the change, whatever his session remembers. */

import t from 'tap';
import { makeLink } from '../../../src/access/accounts/links.ts';
import {
  giveRole,
  invite,
  removeMember,
  resetMember,
} from '../../../src/access/accounts/members.ts';
import { signUp } from '../../../src/access/accounts/sign-up.ts';
import { deleteOpenLinks } from '../../../src/access/sql/links.ts';
import { lockClient } from '../../../src/clients/lock-client.ts';
import { transact } from '../../../src/database/transact.ts';
import { addAccount, makeAccountParts, PASSWORD } from '../../support/accounts.ts';
import { addTenant, secrets } from '../../support/api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { withPostgresStore } from '../../support/store.ts';
import { untilLockWaits } from '../../support/until-lock-waits.ts';

const HERE = { address: '192.0.2.1', requestId: 'r-1' };

t.test('members', (t) =>
  onEachStore(t, {
    'whoever is no owner any more changes nothing': async (t, store) => {
      const { sql } = store;
      const { clientId } = await addTenant(sql, 'demo');
      const roles = [[clientId, 'owner']] as const;
      const ann = await addAccount(sql, { email: 'ann@example.com', roles });
      const ben = await addAccount(sql, {
        email: 'ben@example.com',
        roles: [[clientId, 'publisher']],
      });
      const eve = await addAccount(sql, { email: 'eve@example.com' });
      for (const [id, name] of [
        [ben, 'ben@example.com'],
        [eve, 'eve@example.com'],
      ] as const) {
        const origin = { clientId, actor: { kind: 'account', id, name }, ...HERE } as const;
        t.equal(await invite(sql, secrets, origin, 'owner'), 'no-owner', name);
        t.equal(await giveRole(sql, origin, id, 'owner'), 'no-owner', name);
        t.equal(await removeMember(sql, origin, ann), 'no-owner', name);
        t.equal(await resetMember(sql, secrets, origin, ann), 'no-owner', name);
      }
      const [told] = await sql`select count(*) as count from audit_entries`;
      t.same(told, { count: 0 });
      const operator = { clientId, actor: { kind: 'operator' }, ...HERE } as const;
      t.match(await giveRole(sql, operator, ben, 'owner'), { role: 'owner' }, 'but the operator');
    },
  }),
);

// The embedded store takes turns by whole transactions: there nothing waits in the middle of one.
t.test('a sign-up and a removal at once do not wait for each other', (t) =>
  withPostgresStore(t, async (t, { sql, ...store }) => {
    const { clientId } = await addTenant(sql, 'demo');
    const made = await makeLink(sql, secrets, { kind: 'invitation', clientId, role: 'owner' });
    const invitation = made.path.split('/').at(-1) ?? '';
    const parts = { ...makeAccountParts({ sql, ...store }), mode: 'off' } as const;
    const asked = { email: 'eve@example.com', password: PASSWORD, clientName: null, invitation };
    const { joining } = await transact(sql, async (tx) => {
      await lockClient(tx, clientId);
      const joining = signUp(parts, asked, HERE);
      await untilLockWaits('the sign-up waits', sql);
      const free = await tx`
        select from one_time_links where client_id = ${clientId} for update skip locked`;
      t.equal(free.length, 1, 'it has not locked its link');
      await deleteOpenLinks(tx, clientId);
      return { joining };
    });
    t.same(await joining, { kind: 'no-invitation' });
    const [members] = await sql`select count(*) as count from memberships`;
    t.same(members, { count: 0 });
  }),
);
