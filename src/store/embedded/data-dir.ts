/** Opens the embedded database in its directory, and explains why it does not open. */

import { existsSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SettingFault } from '../../std/setting-fault.ts';

/** Measured: 40 MiB are in use after a first start, 16 of them the first file of the log. */
const FIRST_START_MIB = 48;
/**
 * A start after a clean end needs no room. After another end it needs one more file of the log (16
 * MiB) and some pages.
 */
const LATER_START_MIB = 17;
const ROOM_NEEDED = `a first start needs ${FIRST_START_MIB} MiB, a later one up to ${LATER_START_MIB}. Make room and start again; nothing is lost`;
/** Size of one file of PostgreSQL's log. */
const FILE_MIB = 16;
const MIB = 1_048_576;

/**
 * Starts the database under `dataDir`, whose lock the caller holds. Throws a SettingFault when it
 * does not open.
 */
export async function startInDataDir<Started>(
  dataDir: string,
  start: (directory: string) => Promise<Started>,
): Promise<Started> {
  const directory = join(dataDir, 'postgres');
  const isFirst = !existsSync(join(directory, 'PG_VERSION'));
  const neededMib = isFirst ? FIRST_START_MIB : LATER_START_MIB;
  if (isFirst && freeMib(dataDir) < neededMib) throw noRoom(dataDir);
  try {
    return await start(directory);
  } catch (error) {
    if (!hasRoom(dataDir, neededMib)) throw noRoom(dataDir, error);
    throw new SettingFault(
      `DATA_DIR: the embedded database in ${dataDir} does not open: put a backup of the directory back, or please report it (${textOf(error)}).`,
      { cause: error },
    );
  }
}

/**
 * Makes a directory (0700) and its missing parents. `recursive` of Node tries for ever where the
 * system reports a directory as missing that cannot be made, as under /proc.
 */
export function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    makeDirectory(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  }
}

const MEANINGS: readonly (readonly [codes: RegExp, meaning: string])[] = [
  [
    /^(EACCES|EPERM)$/,
    'this user may not write there: grant the right, or choose another directory',
  ],
  [/^EROFS$/, 'the file system is read-only: choose a directory on another one'],
  [/^(EEXIST|ENOTDIR)$/, 'there is a file in its place: choose a directory'],
  [/^ENOENT$/, 'it cannot be created there: choose a directory on a disk'],
  [/^(ENOSPC|EDQUOT|EFBIG)$/, `its disk is full: ${ROOM_NEEDED}`],
];

/**
 * The fault to report for an error of the file system under `dataDir`; null: it is another error.
 */
export function dataDirFault(dataDir: string, error: unknown): SettingFault | null {
  if (!(error instanceof Error && 'syscall' in error)) return null;
  const meaning = MEANINGS.find(([codes]) => codes.test(codeOf(error)))?.[1];
  if (meaning === undefined) return null;
  return new SettingFault(`DATA_DIR: ${dataDir}: ${meaning} (${error.message}).`, {
    cause: error,
  });
}

const noRoom = (dataDir: string, cause?: unknown): SettingFault =>
  new SettingFault(
    `DATA_DIR: ${dataDir}: its disk is full, with ${freeMib(dataDir)} MiB free: ${ROOM_NEEDED}.`,
    { cause },
  );

function freeMib(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return Math.floor((bavail * bsize) / MIB);
}

/**
 * Tries it with files: the free space that the file system reports does not consider quotas and
 * limits of file size.
 */
function hasRoom(dataDir: string, mib: number): boolean {
  const paths: string[] = [];
  try {
    for (let leftMib = mib; leftMib > 0; leftMib -= FILE_MIB) {
      const path = join(dataDir, `room.${paths.length}`);
      paths.push(path);
      writeFileSync(path, Buffer.alloc(Math.min(leftMib, FILE_MIB) * MIB));
    }
    return true;
  } catch {
    return false;
  } finally {
    for (const path of paths) rmSync(path, { force: true });
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** A thread may throw a value that is no error: the file system of PGlite throws plain objects. */
const textOf = (error: unknown): string =>
  error instanceof Error ? error.message : JSON.stringify(error);
