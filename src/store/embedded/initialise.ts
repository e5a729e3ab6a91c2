/**
 * Makes the files of a new embedded database, in a process of its own: initdb takes several hundred
 * megabytes (a second PGlite, and a copy of its memory), and a process gives all of them back
 * before the database is opened.
 */

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** It takes about five seconds. */
const INITIALISE_MS_MAX = 180_000;
/** V8's optimising compiler takes more memory and time for this than it saves. */
const NODE_FLAGS = ['--liftoff-only'];
const ENTRY = fileURLToPath(new URL('./initialise-entry.js', import.meta.url));

/**
 * Makes `directory` unless a database is in it. If the process is killed at any time, the directory
 * is complete or absent. The caller holds the lock on the folder around it.
 */
export async function initialise(directory: string): Promise<void> {
  if (existsSync(join(directory, 'PG_VERSION'))) return;
  const folder = dirname(directory);
  const unfinished = `${basename(directory)}.new-`;
  // An earlier process was killed. Its initdb, if it still runs, must not write into the new
  // directory.
  for (const name of readdirSync(folder)) {
    if (name.startsWith(unfinished)) rmSync(join(folder, name), { recursive: true, force: true });
  }
  const made = join(folder, `${unfinished}${randomUUID()}`);
  mkdirSync(made, { mode: 0o700 });
  try {
    await promisify(execFile)(process.execPath, [...NODE_FLAGS, ENTRY, made], {
      timeout: INITIALISE_MS_MAX,
    });
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    throw new Error('initdb has failed', { cause: error });
  }
  // The directory will hold device tokens: no other user may read it, whatever DATA_DIR itself
  // allows. initdb would let a group read.
  chmodSync(made, 0o700);
  renameSync(made, directory);
}
