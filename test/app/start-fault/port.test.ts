/** The real program with a port that another one has. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import t from 'tap';
import { runCommand } from '../../support/processes.ts';
import { holdThrown } from '../../support/start-refusals.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

t.test('a port that is taken, before a database is made', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  t.teardown(() => holder.close());
  const { port } = holder.address() as { readonly port: number };
  const environment = { DATA_DIR: temporaryDirectory(t), PORT: String(port) };
  const line = new RegExp(`^PORT: ${port} is in use on 127\\.0\\.0\\.1`);
  await holdThrown(t, [['taken', environment, line]]);
  const { output } = await runCommand(t, [], environment);
  t.notMatch(output, 'opening the embedded database');
});
