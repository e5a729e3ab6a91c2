/** `tagcast simulate`: the provider simulator as a process of its own, to try or load an engine. */

import type { SimulatorArguments } from '../../packages/simulator/src/command/flags.ts';
import { FLAGS, NOTES, readArguments } from '../../packages/simulator/src/command/flags.ts';
import { runSimulator } from '../../packages/simulator/src/command/run.ts';
import type { Command, Flags } from './command.ts';
import { createCommand, ONLY, verb } from './command.ts';
import { processTerminal } from './process-terminal.ts';
import { withUsageErrors } from './simulator-faults.ts';

/** `readArguments` refuses wrong values, with the simulator's own words. */
const SIMULATOR_FLAGS: Flags = Object.fromEntries(
  Object.entries(FLAGS).map(([name, flag]) => [name, { ...flag, alsoTakes: () => true }]),
);

export const simulateCommand: Command = createCommand<SimulatorArguments>(
  {
    name: 'simulate',
    notes: NOTES,
    verbs: {
      [ONLY]: verb(
        {
          summary:
            'Runs a simulated APNs, FCM, Google token endpoint and Web Push service over TLS and HTTP/2.',
          flags: SIMULATOR_FLAGS,
        },
        (_, flags) => withUsageErrors(() => readArguments(flags)),
      ),
    },
  },
  processTerminal,
  (given) =>
    withUsageErrors(() =>
      runSimulator(given, {
        print: (line) => processTerminal.print(line),
        complain: (line) => processTerminal.complain(`tagcast simulate: ${line}`),
      }),
    ),
);
