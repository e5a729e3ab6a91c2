/**
 * Runs in the simulator's thread: starts the simulator, sends its addresses, and closes it at the
 * first message.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { tellThreadVitals } from '../std/thread-vitals.ts';
import type { SimulatorOptions } from './simulator.ts';
import { startSimulator } from './simulator.ts';
import type { SimulatorAddresses } from './thread.ts';

const { close, ...addresses } = await startSimulator(workerData as SimulatorOptions);
parentPort?.postMessage(addresses satisfies SimulatorAddresses);
tellThreadVitals((vitals) => parentPort?.postMessage(vitals));
parentPort?.once('message', () => {
  // Nothing keeps the thread alive when the servers are closed and the port has no listener.
  void close();
});
