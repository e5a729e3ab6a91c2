/** Which test files a run is about, and what each of them needs. */

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Stores } from './assignment.ts';

export const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
export const DIST = join(ROOT, 'dist');

/** Which stores the tests of a run are for: `usual`: what `storesOf` says of each file. */
export type StoreChoice = 'usual' | 'both' | 'embedded';

/**
 * Folders whose tests run on both stores each time, for there the stores differ: one session, a
 * bridge, no time-outs. The others run on PostgreSQL; CI runs them on the embedded store as well.
 */
const ON_BOTH_STORES =
  /^dist\/test\/(database\/|devices\/register\/|contract\/|end-to-end\/|.*\/sql\/)/;

/** The stores on which a file runs. Without a PostgreSQL all run on the embedded one. */
export function storesOf(file: string, choice: StoreChoice, hasPostgres: boolean): Stores {
  if (!hasPostgres || choice === 'embedded') return 'embedded';
  return choice === 'both' || isOnBothStores(file) ? 'both' : 'postgres';
}

const isOnBothStores = (file: string): boolean => ON_BOTH_STORES.test(file);

/** Calls by which a test file runs on whatever store it is given. */
const ON_ANY_STORE = /\b(withStores|onEachStore|temporaryStore)\(/;

/** Whether a usual run leaves out the embedded store for this file, which has tests for it. */
export const isLeftToEmbedded = (file: string): boolean =>
  !isOnBothStores(file) && ON_ANY_STORE.test(readFileSync(join(ROOT, file), 'utf8'));

/** Calls by which a file opens an embedded store on a run with PostgreSQL as well. */
const OPENS_EMBEDDED = /\b(seedEmbedded|temporaryEmbedded|sharedService)\(/;
/** They make these functions, or call them on a run that is about the embedded store. */
const OPENERS: ReadonlySet<string> = new Set([
  'test/support/engine-place.js',
  'test/support/store.js',
  'test/support/shared-service.js',
]);

/**
 * Whether what a file reaches may open an embedded store although the run has a PostgreSQL. One
 * that is missed works all the same: what opens it makes it then.
 */
export const opensEmbedded = (reach: ReadonlySet<string>): boolean =>
  [...reach].some((file) => file.startsWith('test/') && !OPENERS.has(file) && callsOpener(file));

const openerCalls = new Map<string, boolean>();

function callsOpener(file: string): boolean {
  const known = openerCalls.get(file);
  if (known !== undefined) return known;
  const path = join(DIST, file);
  // A test of imports names files that are not there.
  const calls = existsSync(path) && OPENS_EMBEDDED.test(readFileSync(path, 'utf8'));
  openerCalls.set(file, calls);
  return calls;
}

/**
 * The built test files that a path means: a file, or those of a folder with the ending; none: there
 * is nothing at that path. It may be the path of a source.
 */
export function testFilesOf(path: string, ending: string): readonly string[] {
  const built = builtPath(path);
  const found = statSync(built, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [relative(ROOT, built)];
  return readdirSync(built, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => relative(ROOT, join(built, name)));
}

function builtPath(path: string): string {
  const fromRoot = relative(ROOT, join(process.cwd(), path));
  const [first] = fromRoot.split(sep);
  if (first !== 'test') return join(ROOT, fromRoot);
  return join(DIST, fromRoot.replace(/\.ts$/, '.js'));
}

/** The module that opens what is dear, and the home of the files that reach it. */
const HOMES: readonly (readonly [module: string, home: string])[] = [
  ['test/support/browser.js', 'browser'],
  ['test/support/shared-service.js', 'service'],
];

/** See `Job.home`. `reach`: what the file imports, directly or not. */
export const homeOf = (reach: ReadonlySet<string>): string | null =>
  HOMES.find(([module]) => reach.has(module))?.[1] ?? null;

/** Files that look at all of their process, with at what. */
const ALONE: ReadonlyMap<string, string> = new Map([
  ['dist/test/database/embedded/initialise.test.js', 'the memory of its children'],
  ['dist/test/templates/evaluation-process.test.js', 'its children'],
]);

/** See `Job.isAlone`. */
export const isAlone = (file: string): boolean => ALONE.has(file);
