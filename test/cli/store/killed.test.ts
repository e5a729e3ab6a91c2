/** A move that is killed leaves its target empty and its source whole, and is simply run again. */

import t from 'tap';
import { connect } from '../../../src/database/sql.ts';
import { openEmbedded } from '../../../src/database/store.ts';
import { filledTables } from '../../support/empty-database.ts';
import { runKilledAt } from '../../support/killed-at.ts';
import { makeRunning, makeTenant } from '../../support/notifications.ts';
import { runCommand } from '../../support/processes.ts';
import { seedEmbedded, withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const DEVICES = 100;
/** Lines before the first row, after the last one, and before the end; killed.long.ts has all. */
const LINES = ['Copying', 'Comparing', 'Making it valid'];

await withPostgres(t, async (t, url) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const store = await openEmbedded(dataDir, { fsync: false });
  await makeRunning(store.sql, await makeTenant(store.sql, 'acme'), DEVICES);
  // An engine that was killed in the middle of a send, and a node from before a move back.
  await store.sql`update chunks set lease_until = now() + interval '1 hour'`;
  await store.sql`
    insert into nodes (host, pid, seen_at) values ('gone', 7, now() - interval '1 hour')`;
  await store.close();
  const sql = connect({ kind: 'postgres', url }, 1);
  t.teardown(() => sql.end());
  const args = ['store', 'move', '--to', url];

  for (const line of LINES) {
    const killed = await runKilledAt(t, line, args, { DATA_DIR: dataDir });
    t.equal(killed.code, 'SIGKILL', killed.output);
    t.same(await filledTables(sql), [], `${line}: the target is empty`);
  }
  const whole = await runCommand(t, args, { DATA_DIR: dataDir });
  t.equal(whole.code, 0, whole.output);
  t.match(await sql`select count(*)::integer as devices from devices`, [{ devices: DEVICES }]);
  t.same(await sql`select from chunks where lease_until > now()`, [], 'leases are given up');
  t.equal((await sql`select from chunks`).length, 1, 'and the parts are still to be sent');
  t.same(await sql`select from nodes where died_at is null`, [], 'and no node lives');
});
