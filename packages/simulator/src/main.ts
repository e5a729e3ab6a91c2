#!/usr/bin/env node
/** `tagcast-simulator`: the simulated providers as a program of their own. */

import { parseArgs } from 'node:util';
import { ArgumentFault } from './command/argument-fault.ts';
import type { SimulatorArguments } from './command/flags.ts';
import { FLAGS, NOTES, readArguments } from './command/flags.ts';
import { runSimulator } from './command/run.ts';

const EXIT_USAGE = 2;
const NAME_COLUMNS = 28;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`tagcast-simulator: ${line}\n`);

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    print(help());
    return 0;
  }
  try {
    return await runSimulator(read(args), { print, complain });
  } catch (error) {
    if (!(error instanceof ArgumentFault)) throw error;
    complain(error.message);
    return EXIT_USAGE;
  }
}

function read(args: readonly string[]): SimulatorArguments {
  try {
    return readArguments(parseArgs({ args: [...args], options: FLAGS }).values);
  } catch (error) {
    // Node's own error, for a flag that there is not.
    if (!(error instanceof TypeError)) throw error;
    throw new ArgumentFault(error.message, { cause: error });
  }
}

function help(): string {
  const flags = Object.entries(FLAGS).map(
    ([name, { value, about }]) => `  ${`--${name} <${value}>`.padEnd(NAME_COLUMNS)}${about}`,
  );
  return `tagcast-simulator [flags]

Runs a simulated APNs, FCM, Google token endpoint and Web Push service over TLS and HTTP/2.

${flags.join('\n')}

${NOTES}`;
}
