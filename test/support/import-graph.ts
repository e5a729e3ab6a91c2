/** Who imports whom among the built files: which tests reach a file, and how nearly. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface ImportGraph {
  /** All of them. */
  readonly files: readonly string[];
  /**
   * Files that import this one, directly or not, nearest first: by the number of imports between,
   * then by the folders that both paths share. Paths are relative to dist.
   */
  importersOf(file: string): readonly string[];
}

/** Files for a browser (console, guides) lie beside these, bundled. */
const FOLDERS = ['bench', 'packages', 'src', 'test'];
/** Imports, static and dynamic, of a file that the text names. */
const IMPORT = /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g;
/** The entry of a thread or of a process. */
const ENTRY = /\bnew URL\(\s*'(\.[^']+)'\s*,\s*import\.meta\.url/g;
/** A path made of parts: a program that a test starts. */
const JOINED = /\bimport\.meta\.dirname,((?:\s*'[^']*',?)+)\s*\)/g;
const PART = /'([^']*)'/g;

/** Reads the built files once; what changes later is not seen. */
export function readImportGraph(dist: string): ImportGraph {
  const files = listFiles(dist);
  const importers = new Map<string, string[]>(files.map((file) => [file, []]));
  for (const file of files) {
    for (const target of referencesOf(dist, file)) importers.get(target)?.push(file);
  }
  return { files, importersOf: (file) => reachedFrom(file, importers) };
}

/**
 * The files that a file needs, itself included; paths relative to dist. Reads only those that are
 * reached.
 */
export function readReach(dist: string): (file: string) => ReadonlySet<string> {
  const imports = new Map<string, readonly string[]>();
  const importsOf = (file: string): readonly string[] => {
    const known = imports.get(file);
    if (known !== undefined) return known;
    const targets = existsSync(join(dist, file)) ? referencesOf(dist, file) : [];
    imports.set(file, targets);
    return targets;
  };
  return (file) => {
    const reached = new Set([file]);
    for (const from of reached) for (const to of importsOf(from)) reached.add(to);
    return reached;
  };
}

function listFiles(dist: string): readonly string[] {
  return FOLDERS.filter((folder) => existsSync(join(dist, folder)))
    .flatMap((folder) =>
      readdirSync(join(dist, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    )
    .filter((name) => name.endsWith('.js'))
    .sort();
}

function referencesOf(dist: string, file: string): readonly string[] {
  const targets = referencesIn(readFileSync(join(dist, file), 'utf8'));
  const paths = targets.map((target) => normalize(join(dirname(file), target)));
  return [...new Set(paths)].filter((path) => path.endsWith('.js'));
}

/** Paths relative to the folder of the file with this text. */
function referencesIn(text: string): readonly string[] {
  const named = [...text.matchAll(IMPORT), ...text.matchAll(ENTRY)].map(([, path = '']) => path);
  const joined = Array.from(text.matchAll(JOINED), ([, parts = '']) =>
    join(...Array.from(parts.matchAll(PART), ([, part = '']) => part)),
  );
  return [...named, ...joined];
}

/** Breadth first. */
function reachedFrom(
  file: string,
  importers: ReadonlyMap<string, readonly string[]>,
): readonly string[] {
  const reached = new Set([file]);
  const isBefore = byNearness(file);
  let nearest: readonly string[] = [file];
  while (nearest.length > 0) {
    const next = new Set(nearest.flatMap((from) => importers.get(from) ?? []));
    nearest = [...next].filter((from) => !reached.has(from)).sort(isBefore);
    for (const from of nearest) reached.add(from);
  }
  reached.delete(file);
  return [...reached];
}

/** The tests of a folder mirror it; the order of paths makes the rest definite. */
function byNearness(file: string): (a: string, b: string) => number {
  const [, ...folders] = file.split('/');
  const sharedWith = (path: string): number => {
    const [, ...others] = path.split('/');
    const differs = folders.findIndex((folder, index) => folder !== others[index]);
    return differs === -1 ? folders.length : differs;
  };
  return (a, b) => sharedWith(b) - sharedWith(a) || (a < b ? -1 : 1);
}
