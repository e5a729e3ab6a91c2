/** The real program with a port that another one has. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import t from 'tap';
import { untilReady } from '../../support/client.ts';
import { enginePlace } from '../../support/engine-place.ts';
import { onEachFront } from '../../support/fronts.ts';
import { runCommand, startEngine } from '../../support/processes.ts';
import { holdThrown, refusal } from '../../support/start-refusals.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const { test } = await onEachFront(t);

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

test('a second engine on the port of the first', async (t, { kind }) => {
  const { dataDir, environment } = await enginePlace(t);
  const first = await startEngine(t, dataDir, { ...environment, HTTP_FRONT: kind });
  const { port } = new URL(first.baseUrl);
  const second = { DATA_DIR: temporaryDirectory(t), PORT: port, HTTP_FRONT: kind };
  const line = new RegExp(`^PORT: ${port} is in use on 127\\.0\\.0\\.1: stop the process`);
  t.match(await refusal(t, second), line);
  await untilReady(first.baseUrl);
});
