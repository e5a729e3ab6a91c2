/** Makes and opens the embedded database in its directory, and explains why that fails. */

import { existsSync, mkdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { descriptorsMax, EMBEDDED_DESCRIPTORS_MIN } from '../../std/descriptors.ts';
import { SettingFault } from '../../std/setting-fault.ts';
import { syncFolder } from '../../std/sync-folder.ts';
import type { HowToMake, Initialised } from './initialise.ts';
import { initialise } from './initialise.ts';
import { thrownCode, thrownText } from './thrown.ts';

/**
 * Measured: 40 MiB are in use after a first start, 16 of them the first file of the log.
 * @limit MiB of disk space that a first start of the embedded database needs → no start, with a
 * sentence
 */
const FIRST_START_MIB = 48;
/**
 * A start after a clean end needs no room; after another, one more file of the log and some pages.
 * @limit MiB that a later start needs → no start, with a sentence
 */
const LATER_START_MIB = 17;
const ROOM_NEEDED = `a first start needs ${FIRST_START_MIB} MiB, a later one up to ${LATER_START_MIB}. Make room and start again; nothing is lost`;
/** Size of one file of PostgreSQL's log. */
const FILE_MIB = 16;
const MIB = 1_048_576;

/** Makes the database under `dataDir`, whose lock the caller holds. Throws a SettingFault. */
export async function makeInDataDir(dataDir: string, how: HowToMake): Promise<Initialised> {
  const descriptors = descriptorsMax();
  if (descriptors < EMBEDDED_DESCRIPTORS_MIN) throw tooFewDescriptors(descriptors);
  const directory = databaseDirectory(dataDir);
  if (holdsDatabase(dataDir)) {
    // A start that was killed may have renamed it without this.
    if (how.fsync) syncFolder(dataDir);
    return 'ready';
  }
  if (freeMib(dataDir) < FIRST_START_MIB) throw noRoom(dataDir);
  try {
    return await initialise(directory, how);
  } catch (error) {
    throw (
      knownFault(dataDir, error, FIRST_START_MIB) ??
      new SettingFault(
        `DATA_DIR: no database can be made in ${dataDir}: ${thrownText(error)}. Nothing is left of it: put that right and start again, or please report it.`,
        { cause: error },
      )
    );
  }
}

/** Starts the database made under `dataDir`. Throws a SettingFault when it does not open. */
export async function startInDataDir<Started>(
  dataDir: string,
  start: (directory: string) => Promise<Started>,
): Promise<Started> {
  try {
    return await start(databaseDirectory(dataDir));
  } catch (error) {
    throw (
      knownFault(dataDir, error, LATER_START_MIB) ??
      new SettingFault(
        `DATA_DIR: the embedded database in ${dataDir} does not open: put a backup of the directory back, or please report it (${thrownText(error)}).`,
        { cause: error },
      )
    );
  }
}

/** The folder of the database's files in a data directory. */
export const databaseDirectory = (dataDir: string): string => join(dataDir, 'postgres');

/** Whether a database was made there. */
export const holdsDatabase = (dataDir: string): boolean =>
  existsSync(join(databaseDirectory(dataDir), 'PG_VERSION'));

const tooFewDescriptors = (descriptors: number): SettingFault =>
  new SettingFault(
    `DATA_DIR: this process may open ${descriptors} files, and the embedded database needs a limit of ${EMBEDDED_DESCRIPTORS_MIN} or more: raise it (ulimit -n, LimitNOFILE=).`,
  );

/** A fault of the machine rather than of the database; null: it is none that is known. */
function knownFault(dataDir: string, error: unknown, neededMib: number): SettingFault | null {
  return hasRoom(dataDir, neededMib) ? faultByCode(dataDir, error) : noRoom(dataDir, error);
}

/** Makes a directory (0700) and its parents: `recursive` of Node tries for ever under /proc. */
export function makeDirectory(path: string): void {
  try {
    makeAlone(path);
  } catch (error) {
    const code = thrownCode(error);
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error;
    makeDirectory(dirname(path));
    makeAlone(path);
  }
}

function makeAlone(path: string): void {
  mkdirSync(path, { mode: 0o700 });
  syncFolder(dirname(path));
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
  [/^EIO$/, 'its disk fails: look into the log of the system'],
  [
    /^(EMFILE|ENFILE)$/,
    'the limit of open files is reached: raise it (ulimit -n, LimitNOFILE=; of the whole system, fs.file-max)',
  ],
  [/^(ENOMEM|ERR_WORKER_OUT_OF_MEMORY)$/, 'this machine has no memory left for it'],
];

/** The fault for an error of the file system under `dataDir`; null: it is another error. */
export function dataDirFault(dataDir: string, error: unknown): SettingFault | null {
  if (!(error instanceof Error && 'syscall' in error)) return null;
  return faultByCode(dataDir, error);
}

function faultByCode(dataDir: string, error: unknown): SettingFault | null {
  const meaning = MEANINGS.find(([codes]) => codes.test(thrownCode(error)))?.[1];
  if (meaning === undefined) return null;
  return new SettingFault(`DATA_DIR: ${dataDir}: ${meaning} (${thrownText(error)}).`, {
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

/** Tries it with files: quotas and limits of file size do not show in the free space. */
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
