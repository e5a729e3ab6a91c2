/** A disk of a few mebibytes, to fill: in memory, where the machine lets a test mount one. */

import { spawnSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifetime } from './lifetime.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const PIECES = [1_048_576, 4_096].map((size) => Buffer.alloc(size));

/**
 * Where it is mounted until the test has ended; null: mounting is for root, and not in every
 * sandbox.
 */
export function smallDisk(t: Lifetime, mebibytes: number): string | null {
  const directory = temporaryDirectory(t);
  const { status } = spawnSync('mount', [
    ...['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tagcast-test'],
    directory,
  ]);
  if (status !== 0) return null;
  // Lazily: somebody may still be about to end who has a file open there.
  t.teardown(() => spawnSync('umount', ['-l', directory]));
  return directory;
}

/** Leaves no room on it; the answer gives the room back. */
export function fillDisk(directory: string): () => void {
  const path = join(directory, 'filler');
  const file = openSync(path, 'w');
  for (const piece of PIECES) {
    try {
      while (writeSync(file, piece) === piece.length);
    } catch {
      // Full, but for less than a piece.
    }
  }
  closeSync(file);
  return () => rmSync(path);
}
