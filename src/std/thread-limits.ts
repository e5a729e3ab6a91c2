/** Limits on memory that V8 does not give back, for threads that do not send. */

import type { ResourceLimits } from 'node:worker_threads';

/**
 * V8's room for new objects grows to 33 MB under load and stays. With this limit it stays at 8, and
 * three million objects took as much CPU (200 ms). Threads that send keep V8's own limit, because
 * they make many objects.
 */
export const QUIET_THREAD_LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 12 };
