/** Token to account, on a slow store and a clock that the test moves. */

import t from 'tap';
import { makeLink } from '../../../src/access/accounts/links.ts';
import { memberOf, Sessions } from '../../../src/access/accounts/sessions.ts';
import { createSecrets } from '../../../src/access/secrets.ts';
import { readAccessRevision } from '../../../src/access/sql/access-revision.ts';
import { setOperator } from '../../../src/access/sql/accounts.ts';
import { deleteEndedLinks } from '../../../src/access/sql/links.ts';
import { changeRole, deleteMembership } from '../../../src/access/sql/memberships.ts';
import {
  deleteEndedSessions,
  deleteSession,
  deleteSessionsOf,
  readSessionRevision,
} from '../../../src/access/sql/sessions.ts';
import { disableClient } from '../../../src/clients/disable-client.ts';
import { joinNodes } from '../../../src/database/nodes/beats.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import { transact } from '../../../src/database/transact.ts';
import { addAccount, beginSession, signUpAndIn } from '../../support/accounts.ts';
import { addTenant, secrets } from '../../support/api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

/** Holds every row of a table until `work` is done. */
const whileLocked = (
  sql: SqlPool,
  table: 'sessions' | 'one_time_links',
  work: () => Promise<void>,
): Promise<unknown> =>
  sql.begin(async (tx) => {
    await tx`select from ${tx(table)} for update`;
    await work();
  });

t.test('sessions', (t) =>
  onEachStore(t, {
    'a known one is answered without asking; one that was ended is refused within a second': async (
      t,
      { sql },
    ) => {
      const { clientId } = await addTenant(sql, 'demo');
      const ann = await signUpAndIn(sql, {
        email: 'ann@example.com',
        roles: [[clientId, 'owner']],
      });
      let nowMs = 0;
      const sessions = new Sessions(sql, secrets, () => nowMs);
      t.equal(sessions.recall(ann.token), null);
      t.ok(
        sessions.authenticate(ann.token) instanceof Promise,
        'the first time the store is asked',
      );
      const session = await sessions.authenticate(ann.token);
      if (session === 'ended') throw new Error('it has ended');
      t.match(session, { email: 'ann@example.com', isOperator: false });
      t.same(session.memberships, [
        {
          clientId,
          clientSlug: 'demo',
          clientName: 'demo',
          role: 'owner',
          isDisabled: false,
          limits: null,
          hasPolicies: false,
        },
      ]);
      t.equal(sessions.recall(ann.token), session, 'then nobody is');
      await deleteSession(sql, [session.tokenHash]);
      nowMs += 1_000;
      t.equal(sessions.recall(ann.token), null);
      t.equal(await sessions.authenticate(ann.token), 'ended');
      t.equal(sessions.authenticate(ann.token), 'ended', 'remembered for a moment');
    },
    'the token is stored nowhere, and no other token is it': async (t, { sql }) => {
      const ann = await signUpAndIn(sql, { email: 'ann@example.com' });
      const rows = await sql<{ token_hash: Buffer }[]>`select * from sessions`;
      t.notOk(JSON.stringify(rows).includes(ann.token));
      t.same(rows[0]?.token_hash, secrets.lookupHash(ann.token));
      const sessions = new Sessions(sql, secrets);
      for (const token of ['', 'x', `${ann.token}x`, ann.token.slice(0, -1), 'tcn_\u0000']) {
        t.equal(await sessions.authenticate(token), 'ended', JSON.stringify(token));
      }
      t.match(ann.token, /^tcn_[0-9A-Za-z]{32}$/);
    },
    'each has a CSRF token of its own': async (t, { sql }) => {
      const ann = await signUpAndIn(sql, { email: 'ann@example.com' });
      const again = await beginSession(sql, ann.accountId);
      const sessions = new Sessions(sql, secrets);
      t.ok(sessions.isCsrfToken(ann.token, ann.csrfToken));
      t.notOk(sessions.isCsrfToken(ann.token, again.csrfToken));
      for (const given of ['', ann.token, ann.csrfToken.toLowerCase(), `${ann.csrfToken}=`]) {
        t.notOk(sessions.isCsrfToken(ann.token, given), given);
      }
      t.notOk(ann.csrfToken.includes(secrets.lookupHash(ann.token).toString('base64url')));
      const moving = createSecrets(
        'another secret of the tests, as long',
        'a secret of the tests, long enough',
      );
      t.ok(
        new Sessions(sql, moving).isCsrfToken(ann.token, ann.csrfToken),
        'while SECRET_KEY changes',
      );
    },
    'a role holds, and ends, within a second': async (t, { sql }) => {
      const { clientId } = await addTenant(sql, 'demo');
      const ann = await signUpAndIn(sql, {
        email: 'ann@example.com',
        roles: [[clientId, 'owner']],
      });
      let nowMs = 0;
      const sessions = new Sessions(sql, secrets, () => nowMs);
      const callAs = async () => {
        nowMs += 1_000;
        const session = await sessions.authenticate(ann.token);
        return session === 'ended' ? session : memberOf(session, 'demo');
      };
      const userName = 'ann@example.com';
      t.match(await callAs(), { role: 'super-user', clientId, userName, method: 'session' });
      await changeRole(sql, clientId, ann.accountId, 'publisher');
      t.match(await callAs(), { role: 'key', key: { id: null, scopes: ['send', 'read'] } });
      await changeRole(sql, clientId, ann.accountId, 'viewer');
      t.match(await callAs(), { key: { scopes: ['read'] }, account: { role: 'viewer' } });
      await disableClient(sql, 'demo');
      t.equal(await callAs(), 'disabled');
      await deleteMembership(sql, clientId, ann.accountId);
      t.equal(await callAs(), null);
    },
    'it ends unused, and however much it is used': async (t, { sql }) => {
      const ann = await signUpAndIn(sql, { email: 'ann@example.com' });
      const ben = await signUpAndIn(sql, { email: 'ben@example.com' });
      const ask = (token: string) => new Sessions(sql, secrets).authenticate(token);
      await sql`update sessions set last_used_at = now() - interval '11 hours'`;
      t.match(await ask(ann.token), { email: 'ann@example.com' }, 'half a working day later');
      const [used] = await sql`
        select count(*) as count from sessions where last_used_at > now() - interval '1 minute'`;
      t.same(used, { count: 1 }, 'that it was used is written down');
      await sql`update sessions set last_used_at = now() - interval '13 hours' where account_id = ${ben.accountId}`;
      t.equal(await ask(ben.token), 'ended', 'nobody used it');
      await sql`update sessions set ends_at = now() where account_id = ${ann.accountId}`;
      t.equal(await ask(ann.token), 'ended');
      const before = await readSessionRevision(sql);
      t.equal(
        await deleteEndedSessions(sql, Date.now() - 86_400_000, 100),
        1,
        'what has ended is deleted',
      );
      t.equal(await readSessionRevision(sql), before, 'which concerns nobody');
      await deleteSessionsOf(sql, ben.accountId);
      t.not(await readSessionRevision(sql), before);
    },
    'sessions and roles have a revision of their own': async (t, { sql }) => {
      const { clientId } = await addTenant(sql, 'demo');
      const ann = await signUpAndIn(sql, {
        email: 'ann@example.com',
        roles: [[clientId, 'owner']],
      });
      const changes: Readonly<Record<string, () => Promise<unknown>>> = {
        'a session ends': () => deleteSessionsOf(sql, ann.accountId),
        'a role changes': () => changeRole(sql, clientId, ann.accountId, 'viewer'),
        'an account becomes an operator': () => setOperator(sql, 'ann@example.com', true),
        'a member goes': () => deleteMembership(sql, clientId, ann.accountId),
      };
      await joinNodes(sql, 'host', 1);
      for (const [what, change] of Object.entries(changes)) {
        const access = await readAccessRevision(sql);
        const ofSessions = await readSessionRevision(sql);
        await change();
        t.equal(await readAccessRevision(sql), access, `${what}: credentials are not asked for`);
        t.not(await readSessionRevision(sql), ofSessions, what);
      }
      const ofSessions = await readSessionRevision(sql);
      await disableClient(sql, 'demo');
      t.not(await readSessionRevision(sql), ofSessions, 'what concerns credentials concerns them');
    },
    'a node of the version before learns it by the revision of access': async (t, { sql }) => {
      const accountId = await addAccount(sql, { email: 'ann@example.com' });
      // Reads like that version, which knows of one revision only.
      const [node] = await sql<{ id: number }[]>`
        insert into nodes (host, pid) values ('host', 1) returning id`;
      const raisesAccess = async (): Promise<boolean> => {
        const before = await readAccessRevision(sql);
        await beginSession(sql, accountId);
        await deleteSessionsOf(sql, accountId);
        return (await readAccessRevision(sql)) !== before;
      };
      const diedBefore = (seconds: number) => sql`
        update nodes set died_at = now() - ${seconds}::integer * interval '1 second'
        where id = ${node?.id ?? 0}`;
      t.ok(await raisesAccess());
      await diedBefore(50);
      t.ok(await raisesAccess(), 'others call it dead, and it may still answer');
      await diedBefore(70);
      t.notOk(await raisesAccess(), 'it has ended');
    },
    'the memberships of those in memory are limited, too': async (t, { sql }) => {
      const accountId = await addAccount(sql, { email: 'ann@example.com' });
      await sql`
        with made as (
          insert into clients (slug, name) select 'c-' || n, 'C' from generate_series(1, 100) as n
          returning id
        )
        insert into memberships (client_id, account_id, role)
        select id, ${accountId}, 'viewer' from made`;
      // More than an account may have: each is another cookie, and 200 of them are the limit.
      const tokens = Array.from({ length: 201 }, (_, n) => `tcn_${n}`);
      for (const token of tokens) {
        await sql`
          insert into sessions (token_hash, account_id, ends_at)
          values (${secrets.lookupHash(token)}, ${accountId}, now() + interval '1 hour')`;
      }
      const sessions = new Sessions(sql, secrets, () => 0);
      for (const token of tokens) await sessions.authenticate(token);
      t.same(
        tokens.filter((token) => sessions.recall(token) === null),
        ['tcn_0'],
        'the oldest one is forgotten, the others are known',
      );
    },
    'whoever looks for a session waits for nobody, nor does the housekeeping': async (
      t,
      { sql, address },
    ) => {
      // The embedded database takes one transaction after the other.
      if (address.kind === 'embedded') return;
      const ann = await signUpAndIn(sql, { email: 'ann@example.com' });
      const idle = () => sql`update sessions set last_used_at = now() - interval '1 hour'`;
      await idle();
      await whileLocked(sql, 'sessions', async () => {
        t.match(await new Sessions(sql, secrets).authenticate(ann.token), {
          email: 'ann@example.com',
        });
        t.equal(await deleteEndedSessions(sql, Date.now(), 100), 0);
      });
      t.match(await new Sessions(sql, secrets).authenticate(ann.token), {
        email: 'ann@example.com',
      });
      const used = await sql`select from sessions where last_used_at > now() - interval '1 minute'`;
      t.equal(used.length, 1, 'it is written down when nobody holds it');
      await idle();
      t.equal(await deleteEndedSessions(sql, Date.now(), 100), 1);
      await transact(sql, (tx) => makeLink(tx, secrets, { kind: 'sign-up' }));
      await sql`update one_time_links set ends_at = now() - interval '1 hour'`;
      await whileLocked(sql, 'one_time_links', async () => {
        t.equal(await deleteEndedLinks(sql, Date.now(), 100), 0);
      });
      t.equal(await deleteEndedLinks(sql, Date.now(), 100), 1);
    },
    'an account has twenty at most: the oldest one ends': async (t, { sql }) => {
      const accountId = await addAccount(sql, { email: 'ann@example.com' });
      const tokens: string[] = [];
      for (let n = 0; n < 21; n += 1) tokens.push((await beginSession(sql, accountId)).token);
      const sessions = new Sessions(sql, secrets);
      const known = await Promise.all(tokens.map((token) => sessions.authenticate(token)));
      t.same(
        known.map((session) => session === 'ended'),
        tokens.map((_, n) => n === 0),
      );
    },
  }),
);
