/** Waits for something that another process does, with a limit instead of a guess. */

import { setTimeout as sleep } from 'node:timers/promises';

const POLL_INTERVAL_MS = 20;

/**
 * Asks until `look` answers something other than null; throws with `what` when `limitMs` have
 * passed.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | null> | T | null,
  limitMs = 30_000,
): Promise<T> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    const seen = await look();
    if (seen !== null) return seen;
    if (performance.now() > endMs) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    await sleep(POLL_INTERVAL_MS);
  }
}
