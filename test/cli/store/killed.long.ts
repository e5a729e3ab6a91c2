/**
 * A move is killed at each of its lines, and in the middle of its rows, both ways: the target is
 * empty, the source whole, and the next move brings everything.
 */

import type { Test } from 'tap';
import t from 'tap';
import type { Sql } from '../../../src/database/sql.ts';
import { connect } from '../../../src/database/sql.ts';
import { openEmbedded } from '../../../src/database/store.ts';
import { filledTables } from '../../support/empty-database.ts';
import { runKilledAt } from '../../support/killed-at.ts';
import { makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { runCommand, startCommand } from '../../support/processes.ts';
import { seedDevices } from '../../support/seed.ts';
import { seedEmbedded, withPostgres } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const LINES = ['Looking', 'Counting', 'Copying', 'Comparing', 'Checking', 'Making it valid'];
const DEVICES = 100_000;
const SECRET_KEY = 'x'.repeat(32);

await withPostgres(t, async (t, url) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const store = await openEmbedded(dataDir, { fsync: false });
  const { appId, tagId } = await makeTenant(store.sql, 'acme');
  const devices = { appId, platformId: 3, tagIds: [tagId], count: DEVICES };
  await seedDevices(store.sql, devices);
  await store.close();
  const sql = connect({ kind: 'postgres', url }, 1);
  t.teardown(() => sql.end());

  await t.test('to PostgreSQL', async (t) => {
    const args = ['store', 'move', '--to', url];
    for (const line of LINES) {
      const killed = await runKilledAt(t, line, args, { DATA_DIR: dataDir });
      t.equal(killed.code, 'SIGKILL', killed.output);
      t.same(await filledTables(sql), [], line);
    }
    await killedAmongRows(t, sql, args, dataDir);
    const startMs = performance.now();
    t.equal((await runCommand(t, args, { DATA_DIR: dataDir })).code, 0);
    const perSecond = Math.round((DEVICES * 1_000) / (performance.now() - startMs));
    t.comment(`${perSecond} devices a second`);
    t.equal(await countDevices(sql), DEVICES);
  });

  await t.test('to a directory', async (t) => {
    const copy = temporaryDirectory(t);
    const args = ['store', 'move', '--to', copy];
    const settings = { DATABASE_URL: url, SECRET_KEY };
    for (const line of LINES) {
      const killed = await runKilledAt(t, line, args, settings);
      t.equal(killed.code, 'SIGKILL', killed.output);
      t.same(await onCopy(copy, filledTables), [], line);
    }
    t.equal((await runCommand(t, args, settings)).code, 0);
    t.equal(await onCopy(copy, countDevices), DEVICES);
  });
});

async function killedAmongRows(
  t: Test,
  sql: Sql,
  args: readonly string[],
  dataDir: string,
): Promise<void> {
  const command = startCommand(t, args, { DATA_DIR: dataDir });
  await until('devices are copied', async () => {
    const [copy] = await sql`
      select tuples_processed as rows from pg_stat_progress_copy
      where relid = to_regclass('devices') and datname = current_database()`;
    return copy === undefined ? null : true;
  });
  t.equal(await command.end('SIGKILL'), 'SIGKILL');
  t.same(await filledTables(sql), [], 'among the rows');
}

async function countDevices(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::integer as count from devices`;
  return row?.count ?? 0;
}

async function onCopy<T>(dataDir: string, ask: (sql: Sql) => Promise<T>): Promise<T> {
  const store = await openEmbedded(dataDir, { fsync: false });
  try {
    return await ask(store.sql);
  } finally {
    await store.close();
  }
}
