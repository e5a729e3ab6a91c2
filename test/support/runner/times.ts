/**
 * How long each test file took last time: for the order of the next run, and for the budget of a
 * file.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { timesFile } from '../environment.ts';
import type { FileReport } from './assignment.ts';

/** Outside of `dist`, which each build empties. */
const FILE = timesFile ?? join(import.meta.dirname, '..', '..', '..', '..', '.tap', 'times.json');
/** A suite of five minutes became one of fourteen file by file: a file above this fails the run. */
export const BUDGET_MS = 15_000;

/** Milliseconds by file, as the last runs measured them; empty before the first. */
export function readTimes(file = FILE): ReadonlyMap<string, number> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as object));
  } catch {
    // Nobody has run anything here, or the file was broken off: an order by chance does no harm.
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

/**
 * How many times longer than alone on the machine something takes now, as the number of processes
 * for each core says: the load of others, and of the other lanes, counts against no file's budget.
 */
export function slowness(): number {
  const [load = 0] = loadavg();
  return Math.max(1, load / availableParallelism());
}

/** Files that may take longer, with the reason. */
const LONG_BUDGETS: ReadonlyMap<string, string> = new Map([]);

export const hasLongBudget = (file: string): boolean => LONG_BUDGETS.has(file);
