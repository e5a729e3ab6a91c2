/** Makes contents of files, and names in a folder, survive a power cut: each has its own fsync. */

import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Some systems do not open folders, others do not sync them. PostgreSQL ignores these, too. */
const CANNOT: ReadonlySet<string> = new Set(['EACCES', 'EISDIR', 'EBADF', 'EINVAL']);

/** Writes the names of its files to the disk: new, renamed and removed ones. */
export function syncFolder(path: string): void {
  try {
    syncFile(path);
  } catch (error) {
    if (!CANNOT.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

/** Writes the content of a file to the disk. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
