/** Signing in, by password and by link; passwords changed and reset. */

import t from 'tap';
import { makeLink } from '../../../src/access/accounts/links.ts';
import { Passwords } from '../../../src/access/accounts/passwords.ts';
import { Sessions } from '../../../src/access/accounts/sessions.ts';
import {
  changePassword,
  resetPassword,
  signIn,
  signInByLink,
} from '../../../src/access/accounts/sign-in.ts';
import { signUp } from '../../../src/access/accounts/sign-up.ts';
import { insertMembership } from '../../../src/access/sql/memberships.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import {
  addAccount,
  beginSession,
  LOW_COSTS,
  makeAccountParts,
  PASSWORD,
} from '../../support/accounts.ts';
import { addTenant, secrets } from '../../support/api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

const ANN = 'ann@example.com';
const HERE = { address: '192.0.2.1', requestId: 'r-1' };
const OTHER = 'incorrect horse battery';

const tokenIn = (path: string): string => path.split('/').at(-1) ?? '';
const works = async (sql: SqlPool, token: string): Promise<boolean> =>
  (await new Sessions(sql, secrets).authenticate(token)) !== 'ended';

t.test('sign-in', (t) =>
  onEachStore(t, {
    'with the password of the account, and with no other': async (t, store) => {
      const parts = makeAccountParts(store);
      await addAccount(store.sql, { email: ANN, password: PASSWORD });
      await addAccount(store.sql, { email: 'new@example.com' });
      const signedIn = await signIn(parts, ANN, PASSWORD, HERE);
      t.match(signedIn, { kind: 'signed-in' });
      t.ok(signedIn.kind === 'signed-in' && (await works(store.sql, signedIn.token)));
      const wrong = { kind: 'wrong' };
      t.same(await signIn(parts, ANN, OTHER, HERE), wrong);
      t.same(await signIn(parts, 'nobody@example.com', PASSWORD, HERE), wrong, 'the same answer');
      t.same(await signIn(parts, 'new@example.com', '', HERE), wrong, 'one without a password');
    },
    'an address that no account has costs as much work': async (t, store) => {
      /** Counts the hashes that are made to answer. */
      class Counted extends Passwords {
        hashes = 0;
        override hash(...asked: Parameters<Passwords['hash']>) {
          this.hashes += 1;
          return super.hash(...asked);
        }
        override verify(...asked: Parameters<Passwords['verify']>) {
          this.hashes += 1;
          return super.verify(...asked);
        }
      }
      await addAccount(store.sql, { email: ANN, password: PASSWORD });
      const workFor = async (email: string) => {
        const passwords = new Counted(LOW_COSTS);
        const parts = { ...makeAccountParts(store), passwords, mode: 'open' } as const;
        t.same(await signIn(parts, email, OTHER, HERE), { kind: 'wrong' });
        const forSignIn = passwords.hashes;
        const asked = { email, password: OTHER, clientName: 'Acme', invitation: null };
        const answer = await signUp(parts, asked, HERE);
        return { forSignIn, forSignUp: passwords.hashes - forSignIn, answer };
      };
      const known = await workFor(ANN);
      t.same(await workFor('nobody@example.com'), known);
      t.match(known, { forSignIn: 1, answer: { kind: 'done' } });
    },
    'ten wrong ones are enough, also at once, whether the account exists or not': async (
      t,
      store,
    ) => {
      for (const email of [ANN, 'nobody@example.com']) {
        const parts = makeAccountParts(store);
        const kinds: string[] = [];
        for (let n = 0; n < 3; n += 1) {
          const asked = Array.from({ length: 4 }, () => signIn(parts, email, OTHER, HERE));
          kinds.push(...(await Promise.all(asked)).map(({ kind }) => kind));
        }
        t.same(kinds, [...Array.from({ length: 10 }, () => 'wrong'), 'wait', 'wait'], email);
      }
    },
    'what nobody looked at counts for nothing': async (t, store) => {
      // With an engine's costs each hash takes long enough to hold its place.
      const parts = { ...makeAccountParts(store), passwords: new Passwords() };
      await addAccount(store.sql, { email: ANN, password: PASSWORD });
      // All places of this network are taken: the others are not heard.
      const asked = Array.from({ length: 14 }, (_, n) =>
        n < 4 ? signIn(parts, 'ben@example.com', OTHER, HERE) : signIn(parts, ANN, PASSWORD, HERE),
      );
      const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
      t.equal(kinds.filter((kind) => kind === 'busy').length, 10);
      t.match(await signIn(parts, ANN, PASSWORD, HERE), { kind: 'signed-in' });
    },
    'a link signs in once': async (t, store) => {
      const { sql } = store;
      const accountId = await addAccount(sql, { email: ANN });
      const { path } = await makeLink(sql, secrets, { kind: 'sign-in', accountId });
      const both = await Promise.all(
        [1, 2].map(() => signInByLink(makeAccountParts(store), tokenIn(path), HERE)),
      );
      t.same(both.map(({ kind }) => kind).sort(), ['signed-in', 'wrong']);
      const reset = await makeLink(sql, secrets, { kind: 'reset', accountId, clientId: null });
      t.same(await signInByLink(makeAccountParts(store), tokenIn(reset.path), HERE), {
        kind: 'wrong',
      });
    },
    'a change of password ends all other sessions': async (t, store) => {
      const { sql } = store;
      const parts = makeAccountParts(store);
      const accountId = await addAccount(sql, { email: ANN, password: PASSWORD });
      const before = await beginSession(sql, accountId);
      const change = (currentPassword: string) =>
        changePassword(parts, ANN, { currentPassword, newPassword: OTHER }, HERE);
      t.same(await change('a guess'), { kind: 'wrong' });
      t.ok(await works(sql, before.token), 'nothing has changed');
      const changed = await change(PASSWORD);
      t.notOk(await works(sql, before.token));
      t.ok(
        changed.kind === 'signed-in' && (await works(sql, changed.token)),
        'a new one has begun',
      );
      t.same(await signIn(parts, ANN, PASSWORD, HERE), { kind: 'wrong' });
      t.match(await signIn(parts, ANN, OTHER, HERE), { kind: 'signed-in' });
    },
    'a reset sets the password once, within an hour, and ends all sessions': async (t, store) => {
      const { sql } = store;
      const parts = makeAccountParts(store);
      const accountId = await addAccount(sql, { email: ANN, password: PASSWORD });
      const session = await beginSession(sql, accountId);
      const link = async () =>
        tokenIn((await makeLink(sql, secrets, { kind: 'reset', accountId, clientId: null })).path);
      const reset = (token: string) => resetPassword(parts, { token, newPassword: OTHER }, HERE);
      const [token, unused, late] = [await link(), await link(), await link()];
      const [hour] = await sql`
        select count(*) as count from one_time_links
        where ends_at between now() + interval '59 minutes' and now() + interval '60 minutes'`;
      t.same(hour, { count: 3 }, 'they hold for an hour');
      await sql`
        update one_time_links set ends_at = now() where token_hash = ${secrets.lookupHash(late)}`;
      t.same(await reset(late), { kind: 'no-link' });
      t.same(await reset('tcl_guessed'), { kind: 'no-link' });
      t.ok(await works(sql, session.token));
      t.same(await reset(token), { kind: 'done' });
      t.notOk(await works(sql, session.token));
      t.same(await reset(token), { kind: 'no-link' }, 'once');
      t.same(await reset(unused), { kind: 'no-link' }, 'the others of the account are void');
      t.match(await signIn(parts, ANN, OTHER, HERE), { kind: 'signed-in' });
      const stored = JSON.stringify(await sql`select * from one_time_links`);
      t.notOk(stored.includes(late), 'no token is stored');
    },
    "an owner's reset is void once the account has joined another client": async (t, store) => {
      const { sql } = store;
      const parts = makeAccountParts(store);
      const demo = await addTenant(sql, 'demo');
      const other = await addTenant(sql, 'other');
      const accountId = await addAccount(sql, {
        email: ANN,
        password: PASSWORD,
        roles: [[demo.clientId, 'viewer']],
      });
      const { clientId } = demo;
      const { path } = await makeLink(sql, secrets, { kind: 'reset', accountId, clientId });
      await insertMembership(sql, { clientId: other.clientId, accountId, role: 'owner' });
      const asked = { token: tokenIn(path), newPassword: OTHER };
      t.same(await resetPassword(parts, asked, HERE), { kind: 'no-link' });
      t.match(await signIn(parts, ANN, PASSWORD, HERE), { kind: 'signed-in' });
    },
  }),
);
