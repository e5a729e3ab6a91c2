/** Limits on memory that V8 does not give back, for threads that do not send. */

import type { ResourceLimits } from 'node:worker_threads';

/**
 * V8's room for new objects grows to 33 MB under load and stays. With this limit it stays at 8, and
 * three million objects took as much CPU (200 ms). Threads that send keep V8's own limit, because
 * they make many objects.
 * @limit room for new objects in the threads of the embedded database and the demo's simulator → V8
 * collects more often
 */
export const QUIET_THREAD_LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 12 };
