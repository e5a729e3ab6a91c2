/** The command: runs a simulator as a process until a signal ends it. */

import { writeFile } from 'node:fs/promises';
import type { Simulator } from '../simulator.ts';
import { startSimulator } from '../simulator.ts';
import { keptCertificate, readAccounts, writeAccounts } from './files.ts';
import type { SimulatorArguments } from './flags.ts';
import { HOST } from './flags.ts';

/** Where the command writes. */
interface Output {
  print(line: string): void;
  complain(line: string): void;
}

/**
 * Prints the addresses when the simulator is ready, and resolves with the exit code when SIGINT or
 * SIGTERM has ended it. Rejects with an ArgumentFault for a file that is wrong.
 */
export async function runSimulator(given: SimulatorArguments, output: Output): Promise<number> {
  try {
    await simulate(given, output);
    return 0;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    output.complain(error.message);
    return 1;
  }
}

async function simulate(
  { options, certificateFile, privateKeyFile, accountsFile }: SimulatorArguments,
  { print }: Output,
): Promise<void> {
  // Listening for signals comes first: one that arrives while the servers start must end them too.
  const stopped = untilSignal();
  const accounts = accountsFile === undefined ? undefined : await readAccounts(accountsFile);
  const certificate =
    certificateFile === undefined || privateKeyFile === undefined
      ? undefined
      : await keptCertificate(options.host ?? HOST, certificateFile, privateKeyFile);
  const simulator = await startSimulator({
    ...options,
    ...(accounts === undefined ? {} : { accounts }),
    ...(certificate === undefined ? {} : { certificate }),
  });
  try {
    if (certificateFile !== undefined) await writeFile(certificateFile, simulator.certificatePem);
    if (accountsFile !== undefined && accounts === undefined) {
      await writeAccounts(accountsFile, simulator.accounts);
    }
    print(JSON.stringify(describe(simulator)));
    await stopped;
  } finally {
    await simulator.close();
  }
}

/** The addresses that a script needs, on the one line that it waits for. */
function describe(simulator: Simulator): object {
  const { accounts, certificatePem, close, ...addresses } = simulator;
  return addresses;
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      process.removeListener('SIGINT', stop);
      process.removeListener('SIGTERM', stop);
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

/**
 * A port that is taken, or a file that cannot be written: the operating system's message is enough.
 */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
