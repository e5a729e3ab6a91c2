/** A simulator of the providers that all tests of a process use, one after another. */

import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { BehaviourChange } from '../../packages/simulator/src/options.ts';
import type { Simulator } from '../../packages/simulator/src/simulator.ts';
import { startSimulatorThread } from '../../src/app/demo/simulator-thread.ts';
import { shared } from './shared.ts';

/** Starting one, with its keys and its certificate, takes half a second of CPU. */
const sharedSimulator = shared(async (life) => {
  const simulator = await startSimulatorThread();
  life.teardown(() => simulator.close());
  return simulator;
});

/** The simulator as if it had just started. One test at a time has it. */
export async function freshSimulator(): Promise<Simulator> {
  const simulator = await sharedSimulator();
  await control(simulator, 'POST', '/reset');
  return simulator;
}

/** Empties the simulator's books; from now on it behaves so. */
export async function behave(simulator: Simulator, behaviour: BehaviourChange): Promise<void> {
  await control(simulator, 'POST', '/reset');
  await control(simulator, 'PUT', '/behaviour', behaviour);
}

/**
 * Asks its control endpoint for a change, on a connection that is gone afterwards: one that `fetch`
 * keeps would be counted with what the test opens next.
 */
async function control(
  { controlUrl }: Simulator,
  method: string,
  path: string,
  body?: unknown,
): Promise<void> {
  const call = request(controlUrl + path, { method, agent: false });
  call.end(body === undefined ? undefined : JSON.stringify(body));
  const [socket] = (await once(call, 'socket')) as [Socket];
  const closed = once(socket, 'close');
  const [response] = await once(call, 'response');
  const answer = await text(response);
  await closed;
  if (response.statusCode !== 200)
    throw new Error(`the simulator answered ${response.statusCode} ${answer}`);
}
