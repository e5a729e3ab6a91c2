/** What a thread beside the sending ones may take of memory that V8 does not give back. */

import type { ResourceLimits } from 'node:worker_threads';

/**
 * V8's room for new objects grows to 33 MB under load and stays; with this it stays at 8, and three
 * million objects took as much CPU (200 ms). Threads that send keep V8's own: theirs are many.
 */
export const QUIET_THREAD_LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 12 };
