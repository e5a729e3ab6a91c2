/**
 * Runs test files, several in one process and some processes beside each other, with the stores
 * that they want: a PostgreSQL of its own when one is installed (or the one that TEST_DATABASE_URL
 * names), and an initialised embedded directory to copy. `--help` lists the options.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import type { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { groupBy } from '../../src/std/group-by.ts';
import { readReach } from './import-graph.ts';
import type { FileReport } from './runner/assignment.ts';
import { changedTestFiles } from './runner/changed.ts';
import type { Ended } from './runner/lanes.ts';
import { Lanes } from './runner/lanes.ts';
import type { Job } from './runner/schedule.ts';
import { Schedule } from './runner/schedule.ts';
import type { StoreChoice } from './runner/select.ts';
import {
  DIST,
  homeOf,
  isAlone,
  isLeftToEmbedded,
  opensEmbedded,
  ROOT,
  storesOf,
  testFilesOf,
} from './runner/select.ts';
import type { RunStores } from './runner/stores.ts';
import type { Totals } from './runner/tap-stream.ts';
import { TapStream } from './runner/tap-stream.ts';
import { BUDGET_MS, budgetFault, readTimes, writeTimes } from './runner/times.ts';
import { temporaryParent } from './temporary-parent.ts';

const HELP = `Runs test files.

  npm test [-- options] [files and folders]

A file is named by its source (test/packages/std/json.test.ts) or by what was built of it; a folder means all
test files in it. Without a name all run.

  --changed          those that import what git reports as changed since the last commit
  --stores=CHOICE    usual: PostgreSQL, and the embedded store too where they differ (default);
                     both: both for each file; embedded: on the embedded store, those that usual
                     leaves out there
  --jobs=N           processes beside each other (one more than there are cores)
  --timeout=SECONDS  of a file (480)
  --budget=SECONDS   of the processor that a file may take on a machine of its own (15); above
                     four times that it fails the run
  --reporter=NAME    one of tap's; default on a terminal, tap otherwise
  --ending=ENDING    of the files in a folder that are meant (.test.js)
  --bail             stop after the first file that fails
`;
/** How many of the slowest files are listed at the end. */
const SLOWEST = 10;
/** A run of so many is of the suite: its costs are listed by folder. */
const FILES_OF_KINDS = 100;
const STORE = 'test/support/store.js';
/** For files that want no store: even the code that opens them takes a while to load. */
const NO_STORES = { hasPostgres: () => false, openStores: () => Promise.resolve(null) };

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    // One more than the cores: much of a test's time is waiting.
    jobs: { type: 'string', default: String(availableParallelism() + 1) },
    timeout: { type: 'string', default: '480' },
    budget: { type: 'string', default: String(BUDGET_MS / 1_000) },
    reporter: { type: 'string', default: process.stdout.isTTY ? 'default' : 'tap' },
    ending: { type: 'string', default: '.test.js' },
    stores: { type: 'string', default: 'usual' },
    changed: { type: 'boolean', default: false },
    bail: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) process.stdout.write(HELP);
else process.exitCode = await main();

async function main(): Promise<number> {
  const choice = options.stores as StoreChoice;
  const reach = readReach(DIST);
  const reachOf = (file: string): ReadonlySet<string> => reach(relative('dist', file));
  const named = positionals.length === 0 ? ['dist/test'] : positionals;
  const changed = options.changed ? changedTestFiles() : null;
  const meant = named.map((path) => ({ path, files: testFilesOf(path, options.ending) }));
  const nothing = meant.find(({ files }) => files.length === 0);
  if (nothing !== undefined && !options.changed) {
    process.stderr.write(
      `No built test file is at ${nothing.path}. Is it built, and the name right?\n`,
    );
    return 2;
  }
  const files = meant
    .flatMap((one) => one.files)
    .filter((file) => changed?.has(file) ?? true)
    .filter((file) => choice !== 'embedded' || isLeftToEmbedded(file));
  if (files.length === 0) {
    process.stderr.write('No test file is meant by that.\n');
    return options.changed ? 0 : 2;
  }
  process.env['TMPDIR'] = temporaryParent();
  const wanting = files.filter((file) => reachOf(file).has(STORE));
  const { hasPostgres, openStores } =
    wanting.length === 0 ? NO_STORES : await import('./runner/stores.ts');
  const isOnPostgres = hasPostgres();
  const times = readTimes();
  const jobs = files.map((file) => ({
    file,
    stores: storesOf(file, choice, isOnPostgres),
    knownMs: times.get(file) ?? null,
    home: homeOf(reachOf(file)),
    isAlone: isAlone(file),
  }));
  const isEmbeddedWanted = wanting.some(
    (file) => storesOf(file, choice, isOnPostgres) !== 'postgres' || opensEmbedded(reachOf(file)),
  );
  const stores = await openStores(isEmbeddedWanted);
  try {
    return await runJobs(jobs, stores);
  } finally {
    await stores?.close();
  }
}

async function runJobs(jobs: readonly Job[], stores: RunStores | null): Promise<number> {
  const startMs = performance.now();
  const { out, ended } = openReporter();
  const tap = new TapStream(out);
  const all: Ended[] = [];
  const count = Math.min(Number(options.jobs), jobs.length);
  const lanes = new Lanes(new Schedule(jobs), {
    count,
    timeoutMs: Number(options.timeout) * 1_000,
    environment: { ...process.env, ...stores?.environment },
    onEnded(one) {
      const faults = faultsOf(one);
      tap.write(one, faults);
      all.push(one);
      return !options.bail || (one.report.fail === 0 && faults.length === 0);
    },
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => lanes.stop(signal));
  await lanes.run();
  tap.end();
  await ended;
  const reports = all.map(({ report }) => report);
  writeTimes(reports);
  summarise(all, tap.totals, performance.now() - startMs);
  return tap.totals.fail === 0 && all.length === jobs.length ? 0 : 1;
}

/** The faults of a file although its tests may have passed. */
function faultsOf({ report }: Ended): readonly string[] {
  const left = report.left.map((what) => `leaves behind: ${what}`);
  const isBudgeted = options.ending === '.test.js';
  const fault = isBudgeted ? budgetFault(report, Number(options.budget) * 1_000) : null;
  return fault === null ? left : [...left, fault];
}

/** Standard output, or one of tap's reporters. */
function openReporter(): { readonly out: Writable; readonly ended: Promise<unknown> } {
  if (options.reporter === 'tap') return { out: process.stdout, ended: Promise.resolve() };
  const command = join(ROOT, 'node_modules', '.bin', 'tap');
  const flags = options.reporter === 'default' ? [] : [`--reporter=${options.reporter}`];
  const reporter = spawn(command, ['-', ...flags], { stdio: ['pipe', 'inherit', 'inherit'] });
  return { out: reporter.stdin, ended: once(reporter, 'exit') };
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** Time and CPU of the files in each folder of `test`, the dearest first. */
function byFolder(reports: readonly FileReport[]): readonly string[] {
  const folders = groupBy(reports, ({ file }) => file.split('/')[2] ?? file);
  const sumOf = (some: readonly FileReport[], figure: 'ms' | 'cpuMs'): number =>
    some.reduce((sum, report) => sum + report[figure], 0);
  return [...folders]
    .sort(([, one], [, other]) => sumOf(other, 'cpuMs') - sumOf(one, 'cpuMs'))
    .map(
      ([folder, some]) =>
        `  ${seconds(sumOf(some, 'ms')).padStart(8)} ${seconds(sumOf(some, 'cpuMs')).padStart(8)}  ${folder}: ${some.length} files`,
    );
}

function summarise(all: readonly Ended[], { pass, fail }: Totals, ms: number): void {
  const reports = all.map(({ report }) => report);
  const cpuMs = reports.reduce((sum, report) => sum + report.cpuMs, 0);
  const slowest = [...reports].sort((a, b) => b.ms - a.ms).slice(0, SLOWEST);
  const lines = [
    `${reports.length} files in ${seconds(ms)}, ${seconds(cpuMs)} of CPU. The slowest, with their CPU:`,
    ...slowest.map(
      (report) =>
        `  ${seconds(report.ms).padStart(8)} ${seconds(report.cpuMs).padStart(8)}  ${report.file}`,
    ),
    ...(reports.length < FILES_OF_KINDS ? [] : ['By folder:', ...byFolder(reports)]),
  ];
  if (reports.length > 1) process.stderr.write(`${lines.join('\n')}\n`);
  process.stderr.write(`${pass} assertions passed, ${fail} failed\n`);
}
