/** Reports mistakes that the simulator finds in the form of all others. */

import { ArgumentFault } from '../../packages/simulator/src/command/argument-fault.ts';
import { UsageError } from './arguments.ts';

/** Does the work; what of the arguments it refuses becomes a UsageError. */
export async function withUsageErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ArgumentFault)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}
