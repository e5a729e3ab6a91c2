/**
 * Runs tap with the stores that the tests want: a PostgreSQL of its own when one is installed (or the one that
 * TEST_DATABASE_URL names), and an initialised embedded directory to copy.
 *
 *     node dist/test/support/run.js [tap arguments and test files]
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../src/store/store.ts';
import { databaseUrl } from './environment.ts';
import type { PostgresServer } from './postgres-server.ts';
import { findPostgres, startPostgres } from './postgres-server.ts';

const TAP = join('node_modules', '.bin', 'tap');

const template = mkdtempSync(join(tmpdir(), 'tagcast-'));
const server = databaseUrl === undefined ? await ownServer() : null;
try {
  process.exitCode = await runTap(databaseUrl ?? server?.url);
} finally {
  await server?.stop();
  rmSync(template, { recursive: true, force: true });
}

function ownServer(): Promise<PostgresServer> | null {
  const bin = findPostgres();
  if (bin !== null) return startPostgres(bin, { fsync: false });
  process.stderr.write(
    '\n*** No PostgreSQL is installed and TEST_DATABASE_URL is not set: every test on a real PostgreSQL is SKIPPED. ***\n\n',
  );
  return null;
}

async function runTap(url: string | undefined): Promise<number> {
  const store = await openEmbedded(template);
  await store.close();
  // The first run in a clone would still load the plugins of tap's default: built before, it loads ours.
  await once(spawn(TAP, ['build'], { stdio: 'ignore' }), 'exit');
  const tap = spawn(TAP, process.argv.slice(2), {
    stdio: 'inherit',
    env: {
      ...process.env,
      TEST_EMBEDDED_TEMPLATE: template,
      ...(url === undefined ? {} : { TEST_DATABASE_URL: url }),
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tap.kill(signal));
  const [code] = await once(tap, 'exit');
  return typeof code === 'number' ? code : 1;
}
