/** Members of a client over real HTTP: who may change whom, and what an owner may not get. */

import t from 'tap';
import { makeLink } from '../../../src/access/accounts/links.ts';
import { consoleRoutes } from '../../../src/api/console-routes.ts';
import type { Store } from '../../../src/database/store.ts';
import { transact } from '../../../src/database/transact.ts';
import type { SignedIn } from '../../support/accounts.ts';
import { makeConsoleApi, PASSWORD, signUpAndIn } from '../../support/accounts.ts';
import { addTenant, secrets, startApiOn } from '../../support/api.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import { insertScheduled } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';

interface Told {
  readonly status: number;
  readonly body: unknown;
}

async function startConsole(t: Lifetime, store: Store) {
  const { baseUrl } = await startApiOn(t, store, consoleRoutes(makeConsoleApi(store)));
  return async (
    who: SignedIn | null,
    method: string,
    path: string,
    body?: unknown,
    client = 'demo',
  ): Promise<Told> => {
    const answer = await fetch(`${baseUrl}/console/api/${path}`, {
      method,
      headers: { 'Sec-Fetch-Site': 'same-origin', ...who?.headers, 'Tagcast-Client': client },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  };
}

const linkIn = ({ body }: Told): string => (body as { readonly link: string }).link;
const tokenIn = (told: Told): string => linkIn(told).split('/').at(-1) ?? '';

t.test('members', (t) =>
  onEachStore(t, {
    'invited, given another role, removed': async (t, store) => {
      const { clientId } = await addTenant(store.sql, 'demo');
      const roles = [[clientId, 'owner']] as const;
      const ann = await signUpAndIn(store.sql, { email: 'ann@example.com', roles });
      const ask = await startConsole(t, store);
      const invited = await ask(ann, 'POST', 'members', { role: 'viewer' });
      t.equal(invited.status, 201);
      t.match(linkIn(invited), /^\/console\/#\/invitation\/tcl_\w+$/);
      const asked = { email: 'ben@example.com', password: PASSWORD, invitation: tokenIn(invited) };
      t.equal((await ask(null, 'POST', 'register', asked)).status, 202);
      const listed = await ask(ann, 'GET', 'members');
      t.match(listed.body, [
        { accountId: ann.accountId, email: 'ann@example.com', role: 'owner' },
        { email: 'ben@example.com', role: 'viewer', lastSignInAt: null },
      ]);
      const [, ben] = listed.body as readonly { readonly accountId: number }[];
      const path = `members/${ben?.accountId}`;
      const changed = await ask(ann, 'PATCH', path, { role: 'publisher' });
      t.match(changed, { status: 200, body: { email: 'ben@example.com', role: 'publisher' } });
      t.equal((await ask(ann, 'PATCH', path, { role: 'admin' })).status, 400);
      t.equal((await ask(ann, 'PATCH', path, { role: 'publisher' })).status, 200, 'as it is');
      t.equal((await ask(ann, 'POST', `${path}/reset`)).status, 201);
      t.equal((await ask(ann, 'DELETE', path)).status, 204);
      t.equal((await ask(ann, 'DELETE', path)).status, 404);
      const told = await store.sql`
        select action, actor_kind || ' ' || actor_name as by, object_name as whom, address, detail
        from audit_entries where client_id = ${clientId} order by id`;
      const byAnn = { by: 'account ann@example.com', address: '127.0.0.1' };
      const ofBen = { ...byAnn, whom: 'ben@example.com' };
      t.match(
        [...told],
        [
          { ...byAnn, action: 'member.invite', whom: null, detail: { role: 'viewer' } },
          { ...ofBen, action: 'member.join', by: 'account ben@example.com' },
          { ...ofBen, action: 'member.change', detail: { role: 'publisher' } },
          { ...ofBen, action: 'member.reset' },
          { ...ofBen, action: 'member.delete' },
        ],
        'the audit log tells it, and not what changed nothing',
      );
      t.equal(told.length, 5);
    },
    'the last owner stays': async (t, store) => {
      const { clientId } = await addTenant(store.sql, 'demo');
      const roles = [[clientId, 'owner']] as const;
      const ann = await signUpAndIn(store.sql, { email: 'ann@example.com', roles });
      const ask = await startConsole(t, store);
      const path = `members/${ann.accountId}`;
      t.equal((await ask(ann, 'DELETE', path)).status, 409);
      t.equal((await ask(ann, 'PATCH', path, { role: 'viewer' })).status, 409);
      t.equal((await ask(ann, 'PATCH', path, { role: 'owner' })).status, 200);
      const ben = await signUpAndIn(store.sql, { email: 'ben@example.com', roles });
      const left = await Promise.all([
        ask(ann, 'DELETE', `members/${ben.accountId}`),
        ask(ben, 'DELETE', path),
      ]);
      // The other one is the last owner by then, or has learned already that he is out.
      t.same(left.filter(({ status }) => status === 204).length, 1, 'of two at once, one');
      const [owners] = await store.sql`select count(*) as count from memberships`;
      t.same(owners, { count: 1 });
    },
    'who was removed is out within a second': async (t, store) => {
      const { clientId } = await addTenant(store.sql, 'demo');
      const owner = [[clientId, 'owner']] as const;
      const ann = await signUpAndIn(store.sql, { email: 'ann@example.com', roles: owner });
      const ben = await signUpAndIn(store.sql, { email: 'ben@example.com', roles: owner });
      const ask = await startConsole(t, store);
      t.equal((await ask(ben, 'GET', 'members')).status, 200);
      await ask(ann, 'DELETE', `members/${ben.accountId}`);
      await until('he is out', async () =>
        (await ask(ben, 'GET', 'members')).status === 403 ? true : null,
      );
    },
    'what a member has scheduled goes along where that is asked for': async (t, store) => {
      const { clientId } = await addTenant(store.sql, 'demo');
      const ann = await signUpAndIn(store.sql, {
        email: 'ann@example.com',
        roles: [[clientId, 'owner']],
      });
      const emails = ['ben@example.com', 'cleo@example.com'];
      const [ben, cleo] = await Promise.all(
        emails.map((email) => signUpAndIn(store.sql, { email, roles: [[clientId, 'publisher']] })),
      );
      const [ofBen, ofCleo, ofAnn] = await Promise.all(
        [...emails, 'ann@example.com'].map((email) => insertScheduled(store.sql, clientId, email)),
      );
      const stateOf = async (id = '') =>
        (await store.sql`select state from notifications where id = ${id}`)[0]?.['state'];
      const ask = await startConsole(t, store);
      const remove = async (who: SignedIn | undefined, query: string) =>
        (await ask(ann, 'DELETE', `members/${who?.accountId}${query}`)).status;
      t.equal(await remove(ben, '?cancelJobs=1'), 400);
      t.equal(await remove(ben, ''), 204);
      t.equal(await stateOf(ofBen), 'SCHEDULED', 'unless it is asked for');
      t.equal(await remove(cleo, '?cancelJobs=true'), 204);
      t.equal(await stateOf(ofCleo), 'CANCELLED');
      t.equal(await stateOf(ofAnn), 'SCHEDULED', 'those of others stay');
      const told = await store.sql`
        select object_name as whom, detail from audit_entries
        where action = 'member.delete' order by id`;
      t.match(told, [
        { whom: 'ben@example.com', detail: null },
        { whom: 'cleo@example.com', detail: { cancelJobs: true } },
      ]);
    },
    'an owner who goes takes the open links along': async (t, store) => {
      const { clientId } = await addTenant(store.sql, 'demo');
      const roles = [[clientId, 'owner']] as const;
      const ann = await signUpAndIn(store.sql, { email: 'ann@example.com', roles });
      const ask = await startConsole(t, store);
      const goings = [
        ['removed', 'DELETE', undefined],
        ['demoted', 'PATCH', { role: 'viewer' }],
      ] as const;
      for (const [how, method, body] of goings) {
        const eve = await signUpAndIn(store.sql, { email: `${how}@example.com`, roles });
        const invited = await ask(eve, 'POST', 'members', { role: 'owner' });
        const reset = await ask(eve, 'POST', `members/${ann.accountId}/reset`);
        t.same([invited.status, reset.status], [201, 201]);
        await ask(ann, method, `members/${eve.accountId}`, body);
        const back = {
          email: `${how}@example.com`,
          password: PASSWORD,
          invitation: tokenIn(invited),
        };
        t.equal((await ask(null, 'POST', 'register', back)).status, 400, `${how}: no way back`);
        const asAnn = { token: tokenIn(reset), newPassword: PASSWORD };
        t.equal((await ask(null, 'POST', 'password/reset', asAnn)).status, 400, how);
        // Also while this node remembers the session as an owner's.
        const more = await ask(eve, 'POST', 'members', { role: 'owner' });
        t.equal(more.status, 403, how);
      }
      const [left] = await store.sql`select count(*) as count from one_time_links`;
      t.same(left, { count: 0 });
    },
    'no owner sees or changes another client': async (t, store) => {
      const { sql } = store;
      const demo = await addTenant(sql, 'demo');
      const other = await addTenant(sql, 'other');
      const ann = await signUpAndIn(sql, {
        email: 'ann@example.com',
        roles: [[demo.clientId, 'owner']],
      });
      const eve = await signUpAndIn(sql, {
        email: 'eve@example.com',
        roles: [[other.clientId, 'owner']],
      });
      const ask = await startConsole(t, store);
      const path = `members/${ann.accountId}`;
      t.equal((await ask(eve, 'GET', 'members')).status, 403);
      t.same(
        ((await ask(eve, 'GET', 'members', undefined, 'other')).body as readonly unknown[]).length,
        1,
      );
      for (const [method, at, body] of [
        ['PATCH', path, { role: 'viewer' }],
        ['DELETE', path, undefined],
        ['POST', `${path}/reset`, undefined],
      ] as const) {
        t.equal((await ask(eve, method, at, body, 'other')).status, 404, `${method} ${at}`);
      }
    },
    'an owner resets the password of an account that is of this client alone': async (t, store) => {
      const { sql } = store;
      const demo = await addTenant(sql, 'demo');
      const other = await addTenant(sql, 'other');
      const member = (email: string, more: { readonly isOperator?: boolean } = {}) =>
        signUpAndIn(sql, { email, roles: [[demo.clientId, 'viewer']], ...more });
      const ann = await signUpAndIn(sql, {
        email: 'ann@example.com',
        roles: [[demo.clientId, 'owner']],
      });
      const ben = await member('ben@example.com');
      const operator = await member('operator@example.com', { isOperator: true });
      const both = await signUpAndIn(sql, {
        email: 'both@example.com',
        roles: [
          [demo.clientId, 'viewer'],
          [other.clientId, 'owner'],
        ],
      });
      const ask = await startConsole(t, store);
      const reset = ({ accountId }: SignedIn) => ask(ann, 'POST', `members/${accountId}/reset`);
      t.equal((await reset(both)).status, 409, 'he could get into the other client');
      t.equal((await reset(operator)).status, 409);
      const first = await reset(ben);
      const second = await reset(ben);
      t.same([first.status, second.status], [201, 201]);
      const use = (told: Told) =>
        ask(null, 'POST', 'password/reset', { token: tokenIn(told), newPassword: PASSWORD });
      t.equal((await use(first)).status, 400, 'a new link ends the one before');
      t.equal((await use(second)).status, 204);
    },
    'a client has a hundred open links at most': async (t, store) => {
      const { clientId } = await addTenant(store.sql, 'demo');
      const roles = [[clientId, 'owner']] as const;
      const ann = await signUpAndIn(store.sql, { email: 'ann@example.com', roles });
      const ask = await startConsole(t, store);
      const invite = () => ask(ann, 'POST', 'members', { role: 'viewer' });
      for (let n = 0; n < 100; n += 1) t.equal((await invite()).status, 201);
      t.equal((await invite()).status, 409);
      const { accountId } = ann;
      const ofOperator = { kind: 'reset', accountId, clientId: null } as const;
      await transact(store.sql, (tx) => makeLink(tx, secrets, ofOperator));
      t.equal((await ask(ann, 'POST', `members/${accountId}/reset`)).status, 409);
      const resets = await store.sql`select from one_time_links where account_id = ${accountId}`;
      t.equal(resets.length, 1, 'what is refused ends no link');
      await store.sql`update one_time_links set ends_at = now()`;
      t.equal((await invite()).status, 201, 'those that have ended do not count');
    },
  }),
);
