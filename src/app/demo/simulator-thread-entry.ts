/** The simulator's thread: starts it, sends its addresses, closes it at the first message. */

import { parentPort, workerData } from 'node:worker_threads';
import type { SimulatorOptions } from '../../../packages/simulator/src/simulator.ts';
import { startSimulator } from '../../../packages/simulator/src/simulator.ts';
import { tellThreadVitals } from '../../std/thread-vitals.ts';
import type { SimulatorAddresses } from './simulator-thread.ts';

const { close, ...addresses } = await startSimulator(workerData as SimulatorOptions);
parentPort?.postMessage(addresses satisfies SimulatorAddresses);
tellThreadVitals((vitals) => parentPort?.postMessage(vitals));
parentPort?.once('message', () => {
  // Nothing keeps the thread alive when the servers are closed and the port has no listener.
  void close();
});
