/**
 * Where the directories of tests go: into memory, when there is plenty, for tens of thousands of
 * files are copied and deleted.
 */

import { accessSync, constants, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** Linux keeps it in memory. */
const IN_MEMORY = '/dev/shm';
/** A run has had 0.5 GB in it at once; containers give it 64 MB only. */
const FREE_OCTETS_MIN = 4 * 1_024 ** 3;

/** The value for TMPDIR; one that is set already stays. */
export const temporaryParent = (): string =>
  process.env['TMPDIR'] === undefined && hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir();

function hasRoom(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize >= FREE_OCTETS_MIN;
  } catch {
    // There is none here.
    return false;
  }
}
