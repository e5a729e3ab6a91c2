/** Makes the names in a folder survive a power cut: the fsync of a file does not cover its name. */

import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Some systems do not open folders, others do not sync them. PostgreSQL ignores these, too. */
const CANNOT: ReadonlySet<string> = new Set(['EACCES', 'EISDIR', 'EBADF', 'EINVAL']);

/** Writes the names of its files to the disk: new, renamed and removed ones. */
export function syncFolder(path: string): void {
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    if (!CANNOT.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
