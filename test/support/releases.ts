/**
 * Stored databases of released versions, in test/vectors/releases: for each version a dump, and
 * what a caller of then knows. `npm run release:dump` writes those of this version.
 */

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ROOT } from './documents.ts';
import { findProgram } from './programs.ts';

/** The key of a dumped database, and what callers of its one client, `demo`, have of it. */
export interface ReleasedCallers {
  readonly secretKey: string;
  readonly superUserToken: string;
  readonly apiUserToken: string;
  readonly keyToken: string;
  readonly appId: number;
  readonly deviceIds: readonly string[];
  /** Jobs: one that has ended, and one that waits for a time to come. */
  readonly finished: string;
  readonly scheduled: string;
}

export interface Release {
  readonly version: string;
  readonly sql: string;
  readonly callers: ReleasedCallers;
}

const FOLDER = join(ROOT, 'test', 'vectors', 'releases');
const ENDING = '.sql.gz';

/** Every release whose database is stored. */
export const readReleases = (): readonly Release[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => {
      const version = name.slice(0, -ENDING.length);
      return {
        version,
        sql: gunzipSync(readFileSync(join(FOLDER, name))).toString('utf8'),
        callers: JSON.parse(readFileSync(join(FOLDER, `${version}.json`), 'utf8')),
      };
    });

/** Stores the database at this URL as that of a version. */
export function writeRelease(version: string, url: string, callers: ReleasedCallers): void {
  const program = findProgram('pg_dump');
  if (program === null) throw new Error('pg_dump is not installed');
  const args = ['--no-owner', '--no-privileges', '--inserts', `--dbname=${url}`];
  const dumped = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 100_000_000 });
  if (dumped.status !== 0) throw new Error(`pg_dump: ${dumped.error?.message ?? dumped.stderr}`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${version}${ENDING}`), gzipSync(statementsOf(dumped.stdout)));
  writeFileSync(join(FOLDER, `${version}.json`), `${JSON.stringify(callers, null, 2)}\n`);
}

/** Without what only psql reads, comments, and the search path that stays on a connection. */
const statementsOf = (dump: string): string =>
  dump
    .split('\n')
    .filter((line) => !/^(?:\\|--|SELECT pg_catalog\.set_config\('search_path')/.test(line))
    .join('\n');
