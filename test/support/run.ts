/**
 * Runs test files with the stores that they want: a PostgreSQL of its own when one is installed (or
 * the one that TEST_DATABASE_URL names), and an initialised embedded directory to copy (or that of
 * TEST_EMBEDDED_TEMPLATE).
 *
 *     node dist/test/support/run.js [--jobs=3] [--timeout=400] [--reporter=terse] [--ending=.test.js] <files and folders>
 *
 * The timeout is each file's, in seconds; the ending says which files of a folder are meant. The
 * reporter is one of tap's; without one a pipe gets TAP and a terminal tap's default.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openEmbedded } from '../../src/store/store.ts';
import { databaseUrl, embeddedTemplate } from './environment.ts';
import { NODE_FLAGS } from './node-flags.ts';
import type { PostgresServer } from './postgres-server.ts';
import { findPostgres, startPostgres } from './postgres-server.ts';
import { buildTap, TAP } from './tap-build.ts';
import { temporaryParent } from './temporary-parent.ts';

const RUN_FILES = join(import.meta.dirname, 'run-files.js');

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    // One more than the cores of a small machine: much of a test's time is waiting.
    jobs: { type: 'string', default: '3' },
    timeout: { type: 'string', default: '400' },
    reporter: { type: 'string', default: process.stdout.isTTY ? 'default' : 'tap' },
    ending: { type: 'string', default: '.test.js' },
  },
});

const files = positionals.flatMap(filesOf);
if (files.length === 0) throw new Error('Which test files? There is none among the arguments.');
process.env['TMPDIR'] = temporaryParent();
const ownTemplate = embeddedTemplate === undefined ? mkdtempSync(join(tmpdir(), 'tagcast-')) : null;
const [server] = await Promise.all([
  databaseUrl === undefined ? ownServer() : null,
  ownTemplate === null ? null : makeTemplate(ownTemplate),
  buildTap(),
]);
try {
  process.exitCode = await runTests(databaseUrl ?? server?.url);
} finally {
  await server?.stop();
  if (ownTemplate !== null) rmSync(ownTemplate, { recursive: true, force: true });
}

/** A file itself; of a folder, those with the ending, in order. */
function filesOf(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(options.ending))
    .sort()
    .map((name) => join(path, name));
}

function ownServer(): Promise<PostgresServer> | null {
  const bin = findPostgres();
  if (bin !== null) return startPostgres(bin, { fsync: false });
  process.stderr.write(
    '\n*** No PostgreSQL is installed and TEST_DATABASE_URL is not set: every test on a real PostgreSQL is SKIPPED. ***\n\n',
  );
  return null;
}

async function makeTemplate(template: string): Promise<void> {
  const store = await openEmbedded(template);
  await store.close();
}

async function runTests(url: string | undefined): Promise<number> {
  const isReported = options.reporter !== 'tap';
  const tests = spawn(
    process.execPath,
    [...NODE_FLAGS, RUN_FILES, options.jobs, options.timeout, ...files],
    {
      stdio: ['ignore', isReported ? 'pipe' : 'inherit', 'inherit'],
      env: {
        ...process.env,
        ...(ownTemplate === null ? {} : { TEST_EMBEDDED_TEMPLATE: ownTemplate }),
        ...(url === undefined ? {} : { TEST_DATABASE_URL: url }),
      },
    },
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tests.kill(signal));
  const ended = once(tests, 'exit');
  if (tests.stdout !== null) {
    const flags = options.reporter === 'default' ? [] : [`--reporter=${options.reporter}`];
    const reporter = spawn(TAP, ['-', ...flags], {
      stdio: [tests.stdout, 'inherit', 'inherit'],
    });
    await once(reporter, 'exit');
  }
  const [code] = await ended;
  return typeof code === 'number' ? code : 1;
}
