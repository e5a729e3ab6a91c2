/**
 * A PGlite that is out of memory answers every statement with an error: the process has to end, and
 * say why.
 */

import { join } from 'node:path';
import t from 'tap';
import { connect } from '../../../src/database/sql.ts';
import { NODE_FLAGS } from '../../support/node-flags.ts';
import { startEngine } from '../../support/processes.ts';
import { seedEmbedded } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** 256 MB instead of 2 GB, so that the machine need not have them. */
const LITTLE_MEMORY = '--wasm-max-mem-pages=4096';
const STATEMENT_MAX = 16 * 1024 * 1024;
const STATEMENTS_MAX = 1_000;

t.test('a session that holds all memory ends the process with one line', async (t) => {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const nodeFlags = [...NODE_FLAGS, LITTLE_MEMORY];
  const engine = await startEngine(t, dataDir, { DEMO: '0' }, { nodeFlags });
  const sql = connect({ kind: 'embedded', socketPath: join(dataDir, 'database.sock') }, 1);
  t.teardown(() => sql.end({ timeout: 0 }));

  await t.rejects(
    sql`select length(repeat('x', 400000000))`,
    { code: '53200' },
    'one statement that is too large',
  );
  t.match(await sql`select count(*) > 0 as "isThere" from pg_class`, [{ isThere: true }]);

  // Prepared statements stay, until there is no room for anything.
  let size = STATEMENT_MAX;
  for (let n = 0; n < STATEMENTS_MAX && engine.child.exitCode === null; n += 1) {
    const isPrepared = await sql.unsafe(`prepare held_${n} as select '${'x'.repeat(size)}'`).then(
      () => true,
      () => false,
    );
    if (!isPrepared) size = Math.max(1_024, Math.floor(size / 2));
  }
  t.equal(await engine.ended, 1);
  const [line = '', ...more] = engine
    .output()
    .split('\n')
    .filter((line) => !line.startsWith('{') && line !== '');
  t.match(line, /^The embedded database has stopped: .+ Start the service again/);
  t.same(more, [], 'one line');
});
