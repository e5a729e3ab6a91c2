/**
 * Parked parts from the operator's side; how they come to be is in
 * test/push/dispatch/parking.test.ts.
 */

import t from 'tap';
import { operatorRoutes } from '../../src/api/operator-routes.ts';
import { parkedCommand } from '../../src/cli/parked.ts';
import { makeRunning, makeTenant } from '../support/notifications.ts';
import { makeOperatorParts } from '../support/operator-parts.ts';
import { withStores } from '../support/store.ts';
import { recordedContext } from '../support/terminal.ts';

await withStores(t, async (t, store) => {
  const { sql } = store;
  const context = recordedContext(operatorRoutes(makeOperatorParts(store)));
  const command = parkedCommand(context);
  const run = async (line: string): Promise<readonly [code: number, text: string]> => {
    const code = await command.run(line.split(' '));
    return [code, (code === 0 ? context.printed : context.complaints).at(-1) ?? ''];
  };
  t.same(await run('list'), [0, 'Nothing is parked.']);
  const tenant = await makeTenant(sql, 'acme');
  const id = await makeRunning(sql, tenant, 10);
  t.same(await run(`release ${id}`), [1, `Push job ${id} has no parked part.`]);
  t.same(await run('release x'), [1, 'job must be the id of a push job.']);

  await sql`
    update chunks set parked_at = '2026-11-21T12:00:00Z', parked_devices = 10, available_at = 'infinity'
    where notification_id = ${id}`;
  await sql`
    update notification_scopes set total = 10, failed = 10 where notification_id = ${id}`;
  await sql`
    update notifications set state = 'FINISHED', finished_at = now(), open_chunks = 0 where id = ${id}`;
  t.same(await run('list'), [
    0,
    [
      id,
      'acme',
      `app ${tenant.appId} on 3`,
      '10 devices',
      'since 2026-11-21T12:00:00.000Z',
      'its worker or node was lost',
    ].join('\t'),
  ]);
  t.same(await run(`release ${id}`), [0, 'The push will be sent to 10 devices.']);
  t.same(await run(`release ${id}`), [1, `Push job ${id} has no parked part.`]);
  const [row] = await sql`
    select n.state, n.open_chunks, s.total, s.failed
    from notifications n join notification_scopes s on s.notification_id = n.id where n.id = ${id}`;
  t.match(row, { state: 'RUNNING', open_chunks: 1, total: 0, failed: 0 });
});
