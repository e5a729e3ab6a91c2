/**
 * The simulator in a thread of its own: beside an embedded engine it must not take its turns from the
 * thread that serves HTTP.
 */

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { SimulatorOptions } from './options.ts';
import type { Simulator } from './simulator.ts';

/** What the thread sends when its servers listen: the handle without its function. */
export type SimulatorAddresses = Omit<Simulator, 'close'>;

export async function startSimulatorThread(options: SimulatorOptions = {}): Promise<Simulator> {
  const worker = new Worker(new URL('./thread-entry.js', import.meta.url), { workerData: options });
  // Rejects with the thread's own error when it cannot start, for example on a port that is taken.
  const [addresses] = (await once(worker, 'message')) as [SimulatorAddresses];
  return {
    ...addresses,
    close: async () => {
      const exited = once(worker, 'exit');
      worker.postMessage('close');
      await exited;
    },
  };
}
