/** How somebody gets an account: with a client of his own, and as a member of one. */

import t from 'tap';
import { makeLink } from '../../../src/access/accounts/links.ts';
import { Passwords } from '../../../src/access/accounts/passwords.ts';
import { memberOf, Sessions } from '../../../src/access/accounts/sessions.ts';
import { signIn } from '../../../src/access/accounts/sign-in.ts';
import type { SignUp } from '../../../src/access/accounts/sign-up.ts';
import { signUp } from '../../../src/access/accounts/sign-up.ts';
import { revealCredential } from '../../../src/access/credentials.ts';
import { findClient } from '../../../src/clients/find-client.ts';
import type { Store } from '../../../src/database/store.ts';
import { addAccount, makeAccountParts, PASSWORD } from '../../support/accounts.ts';
import { addTenant, secrets } from '../../support/api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

const ANN = 'ann@example.com';
const HERE = { address: '192.0.2.1', requestId: 'r-1' };
const DONE = { kind: 'done' };

function makePeople(store: Store, mode: 'off' | 'open' | 'invitation') {
  const parts = { ...makeAccountParts(store), mode };
  return {
    register: (asked: Partial<SignUp>) =>
      signUp(
        parts,
        { email: ANN, password: PASSWORD, clientName: null, invitation: null, ...asked },
        HERE,
      ),
    /** The roles of an account in its clients; null: it cannot sign in so. */
    async rolesOf(email: string, password: string) {
      const signedIn = await signIn(parts, email, password, HERE);
      if (signedIn.kind !== 'signed-in') return null;
      const session = await new Sessions(store.sql, secrets).authenticate(signedIn.token);
      if (session === 'ended') return null;
      return session.memberships.map(({ clientSlug }) => {
        const caller = memberOf(session, clientSlug);
        return caller === null || caller === 'disabled' ? [] : [clientSlug, caller.account?.role];
      });
    },
  };
}

const tokenIn = (path: string): string => path.split('/').at(-1) ?? '';

t.test('sign-up', (t) =>
  onEachStore(t, {
    'open: an account, its client and that one’s keys': async (t, store) => {
      const { sql } = store;
      const { register, rolesOf } = makePeople(store, 'open');
      t.same(await register({ clientName: 'Café Müller & Söhne' }), DONE);
      t.same(await rolesOf(ANN, PASSWORD), [['cafe-muller-sohne', 'owner']]);
      const client = await findClient(sql, 'cafe-muller-sohne');
      t.match(client, { name: 'Café Müller & Söhne' });
      const owner = { clientId: client?.id ?? 0, appId: null };
      t.match(await revealCredential(sql, secrets, owner), { kind: 'revealed' });
      const told = await sql`
        select action, actor_name as by, request_id as "requestId" from audit_entries order by id`;
      const byAnn = { by: ANN, requestId: 'r-1' };
      t.same(
        [...told],
        [
          { ...byAnn, action: 'client.create' },
          { ...byAnn, action: 'member.join' },
          { ...byAnn, action: 'member.sign-in' },
        ],
      );

      t.same(await register({ email: 'ben@example.com', clientName: 'Cafe Muller Sohne' }), DONE);
      const [[slug = ''] = []] = (await rolesOf('ben@example.com', PASSWORD)) ?? [];
      t.match(slug, /^cafe-muller-sohne-[a-z0-9]{8}$/, 'a client of the same name is another one');
      t.same(await register({ email: 'cem@example.com', clientName: '日本' }), DONE);
      t.same(await rolesOf('cem@example.com', PASSWORD), [['client', 'owner']]);
    },
    'nobody is told who has an account': async (t, store) => {
      const { sql } = store;
      const { register, rolesOf } = makePeople(store, 'open');
      await register({ clientName: 'First' });
      const other = { password: 'another password', clientName: 'Second' };
      t.same(await register(other), DONE, 'the same answer');
      t.equal(await findClient(sql, 'second'), null, 'and nothing of it is there');
      t.equal(await rolesOf(ANN, 'another password'), null);
      t.same(await rolesOf(ANN, PASSWORD), [['first', 'owner']]);
      t.same(await register({ clientName: 'Third' }), DONE, 'with the password of the account');
      t.same(await rolesOf(ANN, PASSWORD), [
        ['first', 'owner'],
        ['third', 'owner'],
      ]);
    },
    'an account that has made ten clients waits': async (t, store) => {
      const parts = { ...makeAccountParts(store), mode: 'open' } as const;
      const id = await addAccount(store.sql, { email: ANN, password: PASSWORD });
      for (let n = 0; n < 10; n += 1) parts.attempts.makeClient(id);
      const asked = { email: ANN, password: PASSWORD, clientName: 'Acme', invitation: null };
      t.match(await signUp(parts, asked, HERE), { kind: 'wait' });
      t.equal(await findClient(store.sql, 'acme'), null);
    },
    'a password that changed meanwhile gets nobody in': async (t, store) => {
      const { sql } = store;
      await addAccount(sql, { email: ANN, password: PASSWORD });
      /** Between the look at the password and the transaction, another one sets a new one. */
      class Overtaken extends Passwords {
        override async hash(...asked: Parameters<Passwords['hash']>) {
          await sql`update accounts set password_hash = 'another' where email = ${ANN}`;
          return super.hash(...asked);
        }
      }
      const parts = {
        ...makeAccountParts(store),
        passwords: new Overtaken(),
        mode: 'open',
      } as const;
      const asked = { email: ANN, password: PASSWORD, clientName: 'Acme', invitation: null };
      t.same(await signUp(parts, asked, HERE), DONE);
      t.equal(await findClient(sql, 'acme'), null);
    },
    'off, and by invitation of the operator': async (t, store) => {
      const { sql } = store;
      const invite = async () => tokenIn((await makeLink(sql, secrets, { kind: 'sign-up' })).path);
      const off = makePeople(store, 'off');
      t.same(await off.register({ clientName: 'Acme' }), { kind: 'closed' });
      t.same(await off.register({ clientName: 'Acme', invitation: await invite() }), {
        kind: 'closed',
      });
      const { register, rolesOf } = makePeople(store, 'invitation');
      t.same(await register({ clientName: 'Acme' }), { kind: 'closed' });
      const invitation = await invite();
      t.same(await register({ invitation }), { kind: 'name-missing' });
      t.same(await register({ clientName: 'Acme', invitation }), DONE);
      t.same(await rolesOf(ANN, PASSWORD), [['acme', 'owner']]);
      const again = { email: 'ben@example.com', clientName: 'More', invitation };
      t.same(await register(again), { kind: 'no-invitation' }, 'once');
      t.equal(await findClient(sql, 'more'), null);
    },
    'an invitation of a client always works, once, for its role': async (t, store) => {
      const { sql } = store;
      const { clientId } = await addTenant(sql, 'demo');
      const { register, rolesOf } = makePeople(store, 'off');
      const invite = async (role: 'publisher' | 'viewer') =>
        tokenIn((await makeLink(sql, secrets, { kind: 'invitation', clientId, role })).path);
      const invitation = await invite('publisher');
      t.same(await register({ invitation, clientName: 'Mine' }), { kind: 'name-unwanted' });
      t.same(await register({ invitation: 'tcl_guessed' }), { kind: 'no-invitation' });
      const both = await Promise.all(
        [ANN, 'ben@example.com'].map((email) => register({ email, invitation })),
      );
      t.same(both.map(({ kind }) => kind).sort(), ['done', 'no-invitation'], 'of two at once, one');
      const roles = [await rolesOf(ANN, PASSWORD), await rolesOf('ben@example.com', PASSWORD)];
      t.strictSame(
        roles.filter((of) => of !== null),
        [[['demo', 'publisher']]],
      );
      await addAccount(sql, { email: 'eve@example.com', password: PASSWORD });
      const forEve = await invite('viewer');
      const guess = { email: 'eve@example.com', password: 'a wrong password', invitation: forEve };
      t.same(await register(guess), DONE);
      t.same(await rolesOf('eve@example.com', PASSWORD), [], 'nothing happened');
      t.same(await register({ email: 'eve@example.com', invitation: forEve }), DONE);
      t.same(await rolesOf('eve@example.com', PASSWORD), [['demo', 'viewer']], 'who has one joins');
      const again = await invite('publisher');
      t.same(await register({ email: 'eve@example.com', invitation: again }), DONE);
      t.same(await rolesOf('eve@example.com', PASSWORD), [['demo', 'viewer']], 'as before');
      const [joins] = await sql`
        select count(*) as count from audit_entries
        where action = 'member.join' and actor_name = 'eve@example.com'`;
      t.same(joins, { count: 1 }, 'the audit log tells who has joined, once');
    },
  }),
);
