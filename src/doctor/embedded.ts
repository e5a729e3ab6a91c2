/** Checks the embedded database from outside: two processes on one would destroy it. */

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { holderOf } from '../database/embedded/lock.ts';
import type { EmbeddedOptions } from '../database/store.ts';
import type { Finding } from './finding.ts';
import { findingsAbout } from './finding.ts';

const { ok, warning, problem } = findingsAbout('database');

export async function checkEmbedded(
  dataDir: string,
  { fsync }: EmbeddedOptions,
): Promise<readonly Finding[]> {
  const holder = await holderOf(dataDir);
  return [
    ...(await checkWritable(dataDir)),
    holder === null
      ? ok(`no engine holds ${dataDir} now`)
      : ok(`an engine holds ${dataDir}: process ${holder.pid ?? 'not known yet'}`),
    fsync
      ? ok('what it confirms survives a power cut')
      : problem('EMBEDDED_FSYNC is 0: a power cut may destroy the database; leave it out.'),
    warning(
      'it is the embedded one, for one node: for more, `tagcast store move --to postgres://…` brings everything to a PostgreSQL.',
    ),
    warning(
      'only its engine can look into it: its tables, SECRET_KEY, the credentials and the age of a backup were not checked. `tagcast app check <app> <provider>` asks a running engine for a credential.',
    ),
  ];
}

async function checkWritable(dataDir: string): Promise<readonly Finding[]> {
  try {
    if (!(await stat(dataDir)).isDirectory())
      return [problem(`DATA_DIR ${dataDir} is no directory: name one.`)];
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return [ok(`${dataDir} can be written`)];
  } catch (error) {
    // The first start makes it.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    return [
      problem(
        `${dataDir} cannot be written by this user (${(error as NodeJS.ErrnoException).code}): give it to the user of the engine.`,
      ),
    ];
  }
}
