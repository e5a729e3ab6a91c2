/**
 * How long each test file took last time: for the order of the next run, and for the budget of a
 * file.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { timesFile } from '../environment.ts';
import type { FileReport } from './assignment.ts';

/** Outside of `dist`, which each build empties. */
const FILE = timesFile ?? join(import.meta.dirname, '..', '..', '..', '..', '.tap', 'times.json');
/** A suite of five minutes became one of fourteen file by file: a file above this fails the run. */
export const BUDGET_MS = 15_000;
/**
 * The same work takes up to three times the processor time on a slow machine and beside a browser
 * (shared caches): a file above this many of its budget fails the run.
 */
const BUDGETS_MAX = 4;

/** Milliseconds by file, as the last runs measured them; empty before the first. */
export function readTimes(file = FILE): ReadonlyMap<string, number> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as object));
  } catch {
    // No test has run here, or the file was broken off: an order by chance does no harm.
    return new Map();
  }
}

/** Writes what was measured now, beside what is known of other files. */
export function writeTimes(reports: readonly FileReport[], file = FILE): void {
  const times = new Map(readTimes(file));
  for (const { file: name, ms } of reports) times.set(name, Math.round(ms));
  const sorted = [...times].sort(([, a], [, b]) => b - a);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), null, 1)}\n`);
}

/** Files that may take longer, with the reason. */
const LONG_BUDGETS: ReadonlyMap<string, string> = new Map([
  ['dist/test/app/prepare.test.js', 'npm installs in checkouts of its own'],
  [
    'dist/test/database/embedded/initialise.test.js',
    'it creates databases, and ends that on the way',
  ],
  ['dist/test/cli/store/back.test.js', 'a store moves to PostgreSQL and back, twice'],
  ['dist/test/end-to-end/access.test.js', 'every route, asked by every kind of caller'],
  ['dist/test/end-to-end/devices.test.js', 'commands and engines, processes of their own'],
  ['dist/test/end-to-end/haproxy.test.js', 'engines restart behind a proxy, under load'],
  ['dist/test/end-to-end/nginx.test.js', 'engines restart behind a proxy, under load'],
  ['dist/test/end-to-end/main-job.test.js', 'an engine and a simulator on each store'],
  ['dist/test/end-to-end/openapi.test.js', 'every example of the document is sent'],
]);

/**
 * The fault in the processor time of a file; null: none. Its waiting has no budget: that would
 * fail by chance on a busy machine, and a file that hangs is ended by the runner.
 */
export function budgetFault(
  { file, ms, cpuMs }: Pick<FileReport, 'file' | 'ms' | 'cpuMs'>,
  budgetMs: number,
): string | null {
  if (LONG_BUDGETS.has(file) || cpuMs <= budgetMs * BUDGETS_MAX) return null;
  return `takes ${Math.round(cpuMs)} ms of the processor and ${Math.round(ms)} in all: a file has ${budgetMs}, split or shorten it`;
}
