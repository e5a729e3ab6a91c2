/**
 * Held deletions from the operator's side; what becomes of them is in
 * test/push/ledger/deletions.test.ts.
 */

import t from 'tap';
import { operatorRoutes } from '../../src/api/operator-routes.ts';
import { deletionsCommand } from '../../src/cli/deletions.ts';
import { makeRunning, makeTenant } from '../support/notifications.ts';
import { makeOperatorParts } from '../support/operator-parts.ts';
import { withStores } from '../support/store.ts';
import { recordedContext } from '../support/terminal.ts';

await withStores(t, async (t, store) => {
  const { sql } = store;
  const context = recordedContext(operatorRoutes(makeOperatorParts(store)));
  const command = deletionsCommand(context);
  const run = async (line: string): Promise<readonly [code: number, text: string]> => {
    const code = await command.run(line.split(' '));
    return [code, (code === 0 ? context.printed : context.complaints).at(-1) ?? ''];
  };
  t.same(await run('list'), [0, 'No deletions are held.']);
  const tenant = await makeTenant(sql, 'acme');
  const id = await makeRunning(sql, tenant, 10);
  t.same(await run(`release ${id}`), [1, `Push job ${id} has no held deletions.`]);
  t.same(await run('release x'), [1, 'job must be the id of a push job.']);

  const hold = () => sql`
    update notification_scopes set deletions = 'held', held_deletions = 150, delivered = 250,
      held_at = '2026-11-21T12:00:00Z'
    where notification_id = ${id}`;
  await hold();
  t.same(await run('list'), [
    0,
    [
      id,
      'acme',
      `app ${tenant.appId} on 3`,
      '150 of 400 devices',
      'since 2026-11-21T12:00:00.000Z',
    ].join('\t'),
  ]);
  t.same(await run(`release ${id}`), [0, 'Erases 150 devices.']);
  t.same(await run(`discard ${id}`), [1, `Push job ${id} has no held deletions.`]);
  await hold();
  t.same(await run(`discard ${id}`), [0, 'Keeps 150 devices.']);
  const [scope] =
    await sql`select deletions from notification_scopes where notification_id = ${id}`;
  t.equal(scope?.['deletions'], 'discarded');
});
