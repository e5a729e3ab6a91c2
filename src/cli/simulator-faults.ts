/** Mistakes that the simulator finds are told as all others are. */

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
