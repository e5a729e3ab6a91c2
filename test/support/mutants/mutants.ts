/** Mutants: each is the built code with one change, of all that could be made. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { choose } from './choose.ts';
import type { Site } from './sites.ts';
import { applySite, findSites } from './sites.ts';

export interface Mutant {
  /** The built file, relative to dist. */
  readonly file: string;
  readonly text: string;
  /** Where it is in the source, as from the root, with its line. */
  readonly place: string;
  /** The line as it was built, and as it is changed. */
  readonly original: string;
  readonly changed: string;
}

interface Choice {
  readonly seed: number;
  readonly count: number;
  /** A part of the paths of the files that are meant; '' for all. */
  readonly only: string;
}

/** The folders of the service. */
const FOLDERS = ['packages', 'src'];
/** The work of a migration on a database is done, and no database of a test has it half done. */
const LEFT_ALONE = 'src/database/migrations/';

/** The chosen mutants: the same ones for the same built code, seed, count and part. */
export function chooseMutants(dist: string, { seed, count, only }: Choice): readonly Mutant[] {
  const files = FOLDERS.filter((folder) => existsSync(join(dist, folder)))
    .flatMap((folder) =>
      readdirSync(join(dist, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    )
    .filter((name) => name.endsWith('.js') && !name.startsWith(LEFT_ALONE) && name.includes(only))
    .sort();
  const sites = files.flatMap((file) =>
    findSites(readFileSync(join(dist, file), 'utf8')).map((site) => ({ file, site })),
  );
  return choose(sites, seed, count).map(({ file, site }) => makeMutant(dist, file, site));
}

function makeMutant(dist: string, file: string, site: Site): Mutant {
  const source = readFileSync(join(dist, file), 'utf8');
  const text = applySite(source, site);
  const line = source.slice(0, site.at).split('\n').length;
  const column = site.at - (source.lastIndexOf('\n', site.at - 1) + 1);
  const lineOf = (lines: string): string => lines.split('\n')[line - 1]?.trim() ?? '';
  return {
    file,
    text,
    place: placeOf(dist, file, line, column),
    original: lineOf(source),
    changed: lineOf(text),
  };
}

/** In the source, by the map that the compiler has written. */
function placeOf(dist: string, file: string, line: number, column: number): string {
  const map = new SourceMap(JSON.parse(readFileSync(join(dist, `${file}.map`), 'utf8')));
  const entry = map.findEntry(line - 1, column);
  const sourceLine = 'originalLine' in entry ? entry.originalLine + 1 : line;
  return `${file.replace(/\.js$/, '.ts')}:${sourceLine}`;
}
