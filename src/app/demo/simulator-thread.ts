/** The simulator in a thread of its own: it must not take time from the thread of HTTP. */

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Simulator, SimulatorOptions } from '../../../packages/simulator/src/simulator.ts';
import { QUIET_THREAD_LIMITS } from '../../std/thread-limits.ts';
import type { ThreadVitals } from '../../std/thread-vitals.ts';
import { hearThreadVitals } from '../../std/thread-vitals.ts';

export type SimulatorAddresses = Omit<Simulator, 'close'>;

export interface SimulatorThread extends Simulator {
  readonly vitals: () => ThreadVitals | null;
}

export async function startSimulatorThread(
  options: SimulatorOptions = {},
): Promise<SimulatorThread> {
  const worker = new Worker(new URL('./simulator-thread-entry.js', import.meta.url), {
    workerData: options,
    resourceLimits: QUIET_THREAD_LIMITS,
  });
  // Rejects with the thread's own error when it cannot start, for example on a port that is taken.
  const [addresses] = (await once(worker, 'message')) as [SimulatorAddresses];
  return {
    ...addresses,
    vitals: hearThreadVitals(worker),
    close: async () => {
      const exited = once(worker, 'exit');
      worker.postMessage('close');
      await exited;
    },
  };
}
