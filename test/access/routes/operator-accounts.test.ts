/** The operator's commands on accounts, from their arguments to the store. */

import t from 'tap';
import { Sessions } from '../../../src/access/accounts/sessions.ts';
import { resetPassword, signIn } from '../../../src/access/accounts/sign-in.ts';
import { operatorRoutes } from '../../../src/api/operator-routes.ts';
import type { Command } from '../../../src/cli/command.ts';
import { memberCommand } from '../../../src/cli/member.ts';
import { operatorCommand } from '../../../src/cli/operator.ts';
import type { Store } from '../../../src/database/store.ts';
import { createLogger } from '../../../src/telemetry/log.ts';
import { makeAccountParts, PASSWORD, signUpAndIn } from '../../support/accounts.ts';
import { addTenant, secrets } from '../../support/api.ts';
import { silent } from '../../support/app-api.ts';
import { insertScheduled } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeOperatorParts } from '../../support/operator-parts.ts';
import { recordedContext } from '../../support/terminal.ts';

const HERE = { address: '192.0.2.1', requestId: 'r-1' };
const LINK = /\n {2}https:\/\/push\.example\/console\/#\/([a-z-]+)\/(tcl_\w+)$/;

function makeRun(store: Store, log = silent) {
  const context = recordedContext(operatorRoutes(makeOperatorParts(store, { log })));
  const commands: Readonly<Record<string, Command>> = {
    operator: operatorCommand(context),
    member: memberCommand(context),
  };
  return async (line: string): Promise<readonly [code: number, text: string]> => {
    const [name = '', ...args] = line.split(' ');
    const code = (await commands[name]?.run(args)) ?? -1;
    return [code, (code === 0 ? context.printed : context.complaints).at(-1) ?? ''];
  };
}

t.test('accounts by command', (t) =>
  onEachStore(t, {
    'an operator is added, sets the password, and is none any more': async (t, store) => {
      const run = makeRun(store);
      const parts = makeAccountParts(store);
      t.match(await run('operator list'), [0, 'There is no account of the operator']);
      const [code, text] = await run('operator add Ops@Example.com --url https://push.example');
      t.equal(code, 0);
      const [, kind, token = ''] = LINK.exec(text) ?? [];
      t.equal(kind, 'reset');
      const done = await resetPassword(parts, { token, newPassword: PASSWORD }, HERE);
      t.same(done, { kind: 'done' });
      const signedIn = await signIn(parts, 'ops@example.com', PASSWORD, HERE);
      if (signedIn.kind !== 'signed-in') throw new Error(signedIn.kind);
      const now = () => new Sessions(store.sql, secrets).authenticate(signedIn.token);
      t.match(await now(), { isOperator: true, memberships: [] });
      t.match(await run('operator list'), [0, /^ops@example\.com\tsigned in 20/]);
      t.same(await run('operator remove ops@example.com'), [
        0,
        'ops@example.com is no operator any more.',
      ]);
      t.match(await now(), { isOperator: false });
      t.same(await run('operator remove nobody@example.com'), [
        1,
        'There is no account nobody@example.com.',
      ]);
    },
    'who has signed up with the address of an operator before is out': async (t, store) => {
      const run = makeRun(store);
      const email = 'ops@example.com';
      const squatter = await signUpAndIn(store.sql, { email, password: PASSWORD });
      t.equal((await run(`operator add ${email}`))[0], 0);
      const sessions = new Sessions(store.sql, secrets);
      t.equal(await sessions.authenticate(squatter.token), 'ended');
      const again = await signIn(makeAccountParts(store), email, PASSWORD, HERE);
      t.same(again, { kind: 'wrong' });
    },
    'members are invited, listed, changed and removed': async (t, store) => {
      const run = makeRun(store);
      const { clientId } = await addTenant(store.sql, 'demo');
      t.match(await run('member list demo'), [0, 'This client has no members']);
      const invited = await run('member invite demo --role owner --url https://push.example/');
      t.equal(LINK.exec(invited[1])?.[1], 'invitation');
      const roles = [[clientId, 'owner']] as const;
      await signUpAndIn(store.sql, { email: 'ann@example.com', roles });
      await signUpAndIn(store.sql, { email: 'ben@example.com', roles });
      t.same(await run('member role demo ben@example.com viewer'), [
        0,
        'ben@example.com is viewer of client demo.',
      ]);
      t.same(await run('member list demo'), [0, 'ann@example.com\towner\nben@example.com\tviewer']);
      t.match(await run('member role demo ann@example.com viewer'), [1, 'is the last owner']);
      t.equal((await run('member remove demo ben@example.com'))[0], 0);
      t.match(await run('member remove demo ben@example.com'), [1, 'does not belong to client']);
      t.same(await run('member list other'), [1, 'There is no client other.']);
    },
    'what a member has scheduled goes along where that is asked for': async (t, store) => {
      const run = makeRun(store);
      const demo = await addTenant(store.sql, 'demo');
      const { clientId } = demo;
      const emails = ['ann@example.com', 'ben@example.com'] as const;
      for (const email of emails) {
        await signUpAndIn(store.sql, { email, roles: [[clientId, 'publisher']] });
      }
      const jobOf = (userName: string) => insertScheduled(store.sql, clientId, userName);
      const [ofAnn, ofBen, ofSuperUser] = await Promise.all(
        [...emails, demo.superUser.username].map(jobOf),
      );
      const stateOf = async (id = '') =>
        (await store.sql`select state from notifications where id = ${id}`)[0]?.['state'];
      t.equal((await run('member remove demo ann@example.com'))[0], 0);
      t.equal(await stateOf(ofAnn), 'SCHEDULED', 'unless it is asked for');
      t.same(await run('member remove demo ben@example.com --cancel-jobs'), [
        0,
        'ben@example.com does not belong to client demo any more. The push jobs that this account had open are cancelled.',
      ]);
      t.equal(await stateOf(ofBen), 'CANCELLED');
      t.equal(await stateOf(ofSuperUser), 'SCHEDULED', 'those of others stay');
      const told = await store.sql`
        select object_name as whom, detail from audit_entries
        where action = 'member.delete' order by id`;
      t.match(told, [
        { whom: 'ann@example.com', detail: null },
        { whom: 'ben@example.com', detail: { cancelJobs: true } },
      ]);
    },
    'a reset by command is for every account': async (t, store) => {
      const run = makeRun(store);
      const email = 'ann@example.com';
      await signUpAndIn(store.sql, { email });
      const [, text] = await run(`member reset ${email} --url https://push.example`);
      const [, kind, token = ''] = LINK.exec(text) ?? [];
      t.equal(kind, 'reset');
      const asked = { token, newPassword: PASSWORD };
      t.same(await resetPassword(makeAccountParts(store), asked, HERE), { kind: 'done' });
      t.match(await run('operator invite --url https://push.example'), [0, LINK]);
    },
    'a link keeps the path under which a proxy serves the console': async (t, store) => {
      const run = makeRun(store);
      for (const url of ['x.example/push', 'x.example/push/', 'x.example/push/console/?a#/team']) {
        const [, text] = await run(`operator invite --url https://${url}`);
        t.match(text, /\n {2}https:\/\/x\.example\/push\/console\/#\/sign-up\/tcl_\w+$/, url);
      }
    },
    'the log tells who gets in, and no link': async (t, store) => {
      const lines: string[] = [];
      const run = makeRun(
        store,
        createLogger('info', 'test', { write: (line: string) => lines.push(line) }),
      );
      await addTenant(store.sql, 'demo');
      const [, added] = await run('operator add ops@example.com');
      const [, reset] = await run('member reset ops@example.com');
      await run('operator remove ops@example.com');
      await run('member invite demo --role viewer');
      await run('member list demo');
      await run('member remove demo ops@example.com');
      t.same(
        lines.map((line) => {
          const { level, action, email, client, role } = JSON.parse(line);
          return { level, action, email, client, role };
        }),
        [
          { level: 30, action: 'operator.add', email: 'ops@example.com' },
          { level: 30, action: 'member.reset', email: 'ops@example.com' },
          { level: 30, action: 'operator.remove', email: 'ops@example.com' },
          { level: 30, action: 'member.invite', client: 'demo', role: 'viewer' },
        ].map((line) => ({ email: undefined, client: undefined, role: undefined, ...line })),
        'neither lists nor what was refused',
      );
      for (const text of [added, reset]) {
        const token = /tcl_\w+/.exec(text)?.[0] ?? '';
        t.not(token, '');
        t.notOk(lines.join('').includes(token));
      }
    },
    'wrong arguments are a sentence': async (t, store) => {
      const run = makeRun(store);
      t.match(await run('operator add'), [2, '<email> is missing']);
      t.match(await run('operator add ops'), [2, 'email must be an e-mail address']);
      t.match(await run('operator add a@b --url nowhere'), [2, '--url must be an address']);
      t.match(await run('operator add a@b --url push.example:443'), [2, '--url must be']);
      t.match(await run('operator'), [2, 'operator needs add']);
      t.match(await run('member invite demo'), [2, '--role is missing']);
      t.match(await run('member invite demo --role admin'), [2, 'role must be owner']);
      t.match(await run('member'), [2, 'member needs list']);
    },
  }),
);
