/** The thread that interrupts what uses up its processor time (processor-time.ts). */

import { workerData } from 'node:worker_threads';
import { processorMs } from './processor-time.ts';

/**
 * Between looks. A script may exceed its time by as much.
 * @limit between looks whether templates have used up their time
 */
const LOOK_EVERY_MS = 10;

const end = workerData as Int32Array;
for (;;) {
  const endMs = Atomics.load(end, 0);
  if (endMs === 0) Atomics.wait(end, 0, 0);
  else if (processorMs() < endMs) Atomics.wait(end, 0, endMs, LOOK_EVERY_MS);
  // Once for a script: it may have ended just now.
  else if (Atomics.compareExchange(end, 0, endMs, 0) === endMs) process.kill(process.pid, 'SIGINT');
}
