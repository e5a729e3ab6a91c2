/** Waits for something that another process does, with a limit instead of a guess. */

import { setTimeout as sleep } from 'node:timers/promises';

const POLL_INTERVAL_MS_MIN = 20;
/** A look may be a request to an engine, which other tests beside it have to wait for. */
const POLL_INTERVAL_MS_MAX = 100;
/** Share of the wait so far: the pauses add at most this much to a wait. */
const POLL_SHARE = 0.1;

/**
 * Asks until `look` answers something other than null; throws with `what` when `limitMs` have
 * passed.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | null> | T | null,
  limitMs = 60_000,
): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    const seen = await look();
    if (seen !== null) return seen;
    const waitedMs = performance.now() - startMs;
    if (waitedMs > limitMs) throw new Error(`waited ${limitMs} ms in vain: ${what}`);
    const pauseMs = Math.max(waitedMs * POLL_SHARE, POLL_INTERVAL_MS_MIN);
    await sleep(Math.min(pauseMs, POLL_INTERVAL_MS_MAX));
  }
}
