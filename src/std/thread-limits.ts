/** Limits on memory that V8 does not give back, for threads that do not send. */

import type { ResourceLimits } from 'node:worker_threads';

/**
 * V8's room for new objects grows to 33 MB under load and stays; with this at 8, at the same CPU.
 * Threads that send make many objects, and keep V8's own limit.
 * @limit room for new objects in the threads of the embedded database and the demo's simulator → V8
 * collects more often
 */
export const QUIET_THREAD_LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 12 };
