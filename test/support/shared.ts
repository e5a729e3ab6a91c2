/**
 * What several test files of one process share because it is dear to open: a store, an engine, a
 * browser. It is opened when the first of them asks, and closed after the last file of the process
 * (`lane.ts` does that).
 */

import type { Lifetime } from './lifetime.ts';

const ends: (() => unknown)[] = [];

/** The life of the process that runs test files. */
export const PROCESS_LIFETIME: Lifetime = {
  teardown(end) {
    ends.push(end);
  },
};

/** Makes a function that opens something once; one that failed to open is tried again. */
export function shared<T>(open: (lifetime: Lifetime) => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | null = null;
  return () => {
    opened ??= open(PROCESS_LIFETIME).catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
}

/** Closes all of it, latest opened first. */
export async function closeShared(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
