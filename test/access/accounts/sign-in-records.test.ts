/** Who signs in, and who tries to, in the audit logs of the account's clients. */

import t from 'tap';
import { makeLink } from '../../../src/access/accounts/links.ts';
import {
  changePassword,
  resetPassword,
  signIn,
  signInByLink,
} from '../../../src/access/accounts/sign-in.ts';
import type { AccountReport } from '../../../src/access/accounts/sign-in-records.ts';
import { SignInRecords } from '../../../src/access/accounts/sign-in-records.ts';
import { signUp } from '../../../src/access/accounts/sign-up.ts';
import type { Guessed } from '../../../src/access/guesses.ts';
import type { Store } from '../../../src/database/store.ts';
import { addAccount, makeAccountParts, PASSWORD } from '../../support/accounts.ts';
import { addTenant, secrets } from '../../support/api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

const ANN = 'ann@example.com';
const OTHER = 'incorrect horse battery';
const HERE = { address: '192.0.2.1', requestId: 'r-1' };
const from = (address: string) => ({ ...HERE, address });
/** `WINDOW_MS`. */
const WINDOW_MS = 900_000;
/** `NETWORKS_OF_ACCOUNT_MAX`. */
const NETWORKS_OF_ACCOUNT_MAX = 20;

function setUp(store: Store) {
  const reports: AccountReport[] = [];
  const guessed: Guessed[] = [];
  const clock = { nowMs: 0 };
  const records = new SignInRecords(
    store.sql,
    (report) => reports.push(report),
    () => clock.nowMs,
  );
  const guesses = { note: (what: Guessed) => guessed.push(what) };
  return { parts: { ...makeAccountParts(store), records, guesses }, reports, guessed, clock };
}

interface Entry {
  readonly client: string;
  readonly action: string;
}

const entriesOf = async (store: Store): Promise<readonly Entry[]> => {
  const rows = await store.sql<Entry[]>`
    select c.slug as client, action, actor_kind as "actorKind", actor_id as "actorId", object_id as "objectId",
      object_name as "objectName", address, request_id as "requestId", detail
    from audit_entries join clients c on c.id = client_id order by audit_entries.id, c.slug`;
  return [...rows];
};

t.test('records of sign-ins', (t) =>
  onEachStore(t, {
    'one that is good is in the log of each client of the account': async (t, store) => {
      const { sql } = store;
      const [one, two] = [await addTenant(sql, 'one'), await addTenant(sql, 'two')];
      await addTenant(sql, 'three');
      const accountId = await addAccount(sql, {
        email: ANN,
        password: PASSWORD,
        roles: [
          [one.clientId, 'owner'],
          [two.clientId, 'viewer'],
        ],
      });
      const { parts, reports } = setUp(store);
      t.match(await signIn(parts, ANN, PASSWORD, HERE), { kind: 'signed-in' });
      const entry = {
        action: 'member.sign-in',
        actorKind: 'account',
        actorId: accountId,
        objectId: String(accountId),
        objectName: ANN,
        ...HERE,
        detail: { by: 'password' },
      };
      t.same(await entriesOf(store), [
        { client: 'one', ...entry },
        { client: 'two', ...entry },
      ]);
      t.same(reports, [], 'and in no other');
    },

    'by a link, and a new password': async (t, store) => {
      const { sql } = store;
      const { clientId } = await addTenant(sql, 'demo');
      const accountId = await addAccount(sql, {
        email: ANN,
        password: PASSWORD,
        roles: [[clientId, 'owner']],
      });
      const { parts } = setUp(store);
      const tokenOf = async (kind: 'sign-in' | 'reset') => {
        const made = await makeLink(sql, secrets, { kind, accountId, clientId: null });
        return made.path.split('/').at(-1) ?? '';
      };
      await signInByLink(parts, await tokenOf('sign-in'), HERE);
      await changePassword(parts, ANN, { currentPassword: PASSWORD, newPassword: OTHER }, HERE);
      const token = await tokenOf('reset');
      await resetPassword(parts, { token, newPassword: PASSWORD }, HERE);
      t.match(await entriesOf(store), [
        { action: 'member.sign-in', detail: { by: 'link' } },
        { action: 'member.password', detail: { by: 'password' } },
        { action: 'member.password', detail: { by: 'link' } },
      ]);
    },

    'one that is refused is there once for a network in a window': async (t, store) => {
      const { sql } = store;
      const { clientId } = await addTenant(sql, 'demo');
      const accountId = await addAccount(sql, {
        email: ANN,
        password: PASSWORD,
        roles: [[clientId, 'owner']],
      });
      const { parts, guessed, clock } = setUp(store);
      const wrong = async (address: string) => {
        t.same(await signIn(parts, ANN, OTHER, from(address)), { kind: 'wrong' });
        await parts.records.drain();
      };
      await wrong('2001:db8::1');
      await wrong('2001:db8::2');
      await wrong('2001:db8:0:1::1');
      const entry = {
        client: 'demo',
        action: 'member.sign-in-refused',
        actorKind: 'engine',
        actorId: null,
        objectId: String(accountId),
        objectName: ANN,
      };
      t.match(await entriesOf(store), [
        { ...entry, address: '2001:db8::1' },
        { ...entry, address: '2001:db8:0:1::1' },
      ]);
      clock.nowMs += WINDOW_MS;
      await wrong('2001:db8::1');
      t.equal((await entriesOf(store)).length, 3);
      t.same(guessed, ['password', 'password', 'password', 'password'], 'all are counted');
      await signIn(parts, 'nobody@example.com', OTHER, HERE);
      t.equal(guessed.length, 5, 'also of nobody');
    },

    'many networks do not fill the log': async (t, store) => {
      const { sql } = store;
      const { clientId } = await addTenant(sql, 'demo');
      const email = ANN;
      const id = await addAccount(sql, { email, roles: [[clientId, 'owner']] });
      const { parts } = setUp(store);
      const account = { id, email, isOperator: false };
      for (let n = 0; n < NETWORKS_OF_ACCOUNT_MAX + 10; n += 1) {
        parts.records.refuse(account, from(`192.0.2.${n}`));
      }
      await parts.records.drain();
      t.equal((await entriesOf(store)).length, NETWORKS_OF_ACCOUNT_MAX);
    },

    'of the operator, and of who has no client, the engine hears': async (t, store) => {
      const { sql } = store;
      const operatorId = await addAccount(sql, {
        email: 'ops@example.com',
        password: PASSWORD,
        isOperator: true,
      });
      const loneId = await addAccount(sql, { email: ANN, password: PASSWORD });
      const { parts, reports } = setUp(store);
      await signIn(parts, 'ops@example.com', PASSWORD, HERE);
      await signIn(parts, 'ops@example.com', OTHER, HERE);
      await signIn(parts, ANN, PASSWORD, HERE);
      await parts.records.drain();
      t.same(await entriesOf(store), []);
      t.strictSame(
        new Set(reports.map((report) => JSON.stringify(report))),
        new Set(
          [
            { action: 'member.sign-in', accountId: operatorId, ...HERE },
            { action: 'member.sign-in-refused', accountId: operatorId, ...HERE },
            { action: 'member.sign-in', accountId: loneId, ...HERE },
          ].map((report) => JSON.stringify(report)),
        ),
      );
    },

    'who signs up guesses the password of an account, or of nobody': async (t, store) => {
      await addAccount(store.sql, { email: ANN, password: PASSWORD });
      const { parts, guessed } = setUp(store);
      const register = (email: string) =>
        signUp(
          { ...parts, mode: 'open' },
          { email, password: OTHER, clientName: 'Acme', invitation: null },
          HERE,
        );
      await register('new@example.com');
      t.same(guessed, [], 'somebody new');
      await register(ANN);
      t.same(guessed, ['password']);
      await parts.records.drain();
    },
  }),
);
