/**
 * The inside of the simulator's thread: starts it, tells its addresses, closes it at the first
 * message.
 */

import { parentPort, workerData } from 'node:worker_threads';
import { tellThreadVitals } from '../std/thread-vitals.ts';
import type { SimulatorOptions } from './options.ts';
import { startSimulator } from './simulator.ts';
import type { SimulatorAddresses } from './thread.ts';

const { close, ...addresses } = await startSimulator(workerData as SimulatorOptions);
parentPort?.postMessage(addresses satisfies SimulatorAddresses);
tellThreadVitals((vitals) => parentPort?.postMessage(vitals));
parentPort?.once('message', () => {
  // With the servers closed and the port no longer listened to, nothing keeps the thread alive.
  void close();
});
