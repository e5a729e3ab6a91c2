/**
 * Resources that several test files of one process share because they are expensive to open: a
 * store, an engine, a browser. Each is opened when the first file asks, and closed after the last
 * file of the process (`runner/lane.ts` does that).
 */

import type { Lifetime } from './lifetime.ts';
import { allowSince, countResources } from './runner/resources.ts';

const ends: (() => unknown)[] = [];
const checks: (() => Promise<readonly string[]>)[] = [];

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
    opened ??= keptOpen(() => open(PROCESS_LIFETIME)).catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
}

/** Opens something that outlives the file: what it holds is not counted as left behind. */
export async function keptOpen<T>(open: () => Promise<T>): Promise<T> {
  const before = countResources();
  const opened = await open();
  allowSince(before);
  return opened;
}

/** Adds a question that is asked after each file of the process: what has been left behind? */
export function checkAfterFiles(check: () => Promise<readonly string[]>): void {
  checks.push(check);
}

/** The leftovers of the file that has just ended in shared resources. */
export async function leftInShared(): Promise<readonly string[]> {
  const left: string[] = [];
  for (const check of checks) left.push(...(await check()));
  return left;
}

/** Closes all of it, latest opened first. */
export async function closeShared(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}
