/**
 * `tagcast simulate`: the provider simulator as a process of its own, to try an engine or put load
 * on it.
 */

import { writeFile } from 'node:fs/promises';
import type { ScenarioName } from '../simulator/faults/scenarios.ts';
import { isScenarioName, SCENARIO_NAMES, SCENARIOS } from '../simulator/faults/scenarios.ts';
import { behaviourChangeSchema } from '../simulator/options.ts';
import { byProvider, SIMULATED_PROVIDERS } from '../simulator/providers.ts';
import type { Simulator, SimulatorOptions } from '../simulator/simulator.ts';
import { startSimulator } from '../simulator/simulator.ts';
import { UsageError } from './arguments.ts';
import type { Command, Flag } from './command.ts';
import { createCommand, EXIT_FAILED, ONLY, verb } from './command.ts';
import { processTerminal } from './process-terminal.ts';
import { keptCertificate, readAccounts, writeAccounts } from './simulator-files.ts';

/** Flags that are numbers in the behaviour, by their path in it. */
const BEHAVIOUR_FLAGS: Readonly<Record<string, readonly [path: string, about: string]>> = {
  'latency-ms': ['latencyMs', 'time between a request and its answer'],
  'round-trip-ms': [
    'roundTripMs',
    'network round trip: all that a provider sends arrives this much later',
  ],
  gone: ['shares.gone', 'share of tokens that are dead (410, 404 UNREGISTERED)'],
  'bad-token': ['shares.badToken', 'share of tokens refused as malformed (400)'],
  'not-found': ['shares.notFound', 'share of tokens answered 404 without UNREGISTERED'],
  throttled: ['shares.throttled', 'share of requests answered 429'],
  'server-error': ['shares.serverError', 'share of requests answered 5xx'],
  silent: ['silentShare', 'share of requests neither processed nor answered'],
  'lost-answer': ['lostAnswerShare', 'share of requests accepted and never answered'],
  'goaway-every': ['ends.goAway', 'GOAWAY after this many requests on a connection'],
  streams: ['maxConcurrentStreams', 'concurrent streams (APNs 1, then 1000; FCM 100)'],
  'retry-after': ['retryAfterSeconds', 'seconds in the Retry-After of FCM'],
  seed: ['seed', 'the same seed gives tokens and connections the same faults'],
};

const CONTROL_PORT = { name: 'control-port', of: 'the JSON control endpoint' };

const PORT_FLAGS: Readonly<Record<string, string>> = Object.fromEntries(
  [...Object.values(SIMULATED_PROVIDERS).map(({ portFlag }) => portFlag), CONTROL_PORT].map(
    ({ name, of }) => [name, `port of ${of} (a free one)`],
  ),
);

const TEXT_FLAGS: Readonly<Record<string, string>> = {
  host: 'address of the providers (127.0.0.1); control stays on loopback',
  'certificate-file': 'write the certificate here, for PROVIDER_CA_FILE of an engine',
  'private-key-file':
    "keep the certificate's key here; the certificate then survives restarts (with --certificate-file)",
  'accounts-file': 'read the provider accounts from this file; create it when it does not exist',
};

/** The flag that may come more than once, each time with several names. */
const SCENARIO_FLAG = 'scenario';

const PORT_MAX = 65_535;
const HOST = '127.0.0.1';

interface Arguments {
  readonly options: SimulatorOptions;
  readonly certificateFile: string | undefined;
  readonly privateKeyFile: string | undefined;
  readonly accountsFile: string | undefined;
}

type TextFlag = Flag & { readonly type: 'string' };

const flagsOf = (
  abouts: Readonly<Record<string, string>>,
  placeOf: (name: string) => string,
): Readonly<Record<string, TextFlag>> =>
  Object.fromEntries(
    Object.entries(abouts).map(([name, about]) => [
      name,
      { type: 'string', value: placeOf(name), about },
    ]),
  );

const FLAGS: Readonly<Record<string, TextFlag>> = {
  ...flagsOf(TEXT_FLAGS, (name) => (name === 'host' ? 'address' : 'file')),
  ...flagsOf(PORT_FLAGS, () => 'port'),
  ...flagsOf(
    Object.fromEntries(Object.entries(BEHAVIOUR_FLAGS).map(([name, [, about]]) => [name, about])),
    () => 'n',
  ),
  [SCENARIO_FLAG]: {
    type: 'string',
    multiple: true,
    value: 'name,…',
    choices: SCENARIO_NAMES,
    about: 'scenarios, below',
  },
};

const NAME_COLUMNS = 24;

const NOTES = `Prints its addresses as one line of JSON when it is ready, and runs until SIGINT or SIGTERM. Shares are numbers from 0 to 1.

Scenarios may be combined, by commas or by more than one flag; the flags above override them:

${SCENARIO_NAMES.map((name) => `  ${name.padEnd(NAME_COLUMNS)}${SCENARIOS[name].about}`).join('\n')}`;

export const simulateCommand: Command = createCommand<Arguments>(
  {
    name: 'simulate',
    notes: NOTES,
    verbs: {
      [ONLY]: verb(
        {
          summary:
            'Runs a simulated APNs, FCM, Google token endpoint and Web Push service over TLS and HTTP/2.',
          flags: FLAGS,
        },
        (_, flags) => readArguments(flags),
      ),
    },
  },
  processTerminal,
  async (given) => {
    try {
      return await simulate(given);
    } catch (error) {
      if (error instanceof UsageError || !isSystemError(error)) throw error;
      processTerminal.complain(`tagcast simulate: ${error.message}`);
      return EXIT_FAILED;
    }
  },
);

async function simulate({
  options,
  certificateFile,
  privateKeyFile,
  accountsFile,
}: Arguments): Promise<number> {
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
    processTerminal.print(JSON.stringify(describe(simulator)));
    await stopped;
  } finally {
    await simulator.close();
  }
  return 0;
}

function readArguments(values: Readonly<Record<string, unknown>>): Arguments {
  const text = (flag: string): string | undefined => {
    const value = values[flag];
    return typeof value === 'string' ? value : undefined;
  };
  const port = (flag: string): number => readPort(flag, text(flag) ?? '0');
  const privateKeyFile = text('private-key-file');
  if (privateKeyFile !== undefined && text('certificate-file') === undefined) {
    throw new UsageError('--private-key-file goes with --certificate-file');
  }
  return {
    options: {
      host: text('host') ?? HOST,
      ports: byProvider((name) => port(SIMULATED_PROVIDERS[name].portFlag.name)),
      controlPort: port(CONTROL_PORT.name),
      behaviour: readBehaviour(text, readScenarios(values[SCENARIO_FLAG])),
    },
    certificateFile: text('certificate-file'),
    privateKeyFile,
    accountsFile: text('accounts-file'),
  };
}

function readPort(flag: string, value: string): number {
  const port = Number(value);
  if (Number.isInteger(port) && value.trim() !== '' && port >= 0 && port <= PORT_MAX) return port;
  throw new UsageError(`--${flag} must be a port from 0 to ${PORT_MAX}, not '${value}'`);
}

function readScenarios(values: unknown): readonly ScenarioName[] {
  const names = Array.isArray(values) ? values.flatMap((value) => String(value).split(',')) : [];
  return names.map((name) => {
    if (isScenarioName(name)) return name;
    const known = SCENARIO_NAMES.join(', ');
    throw new UsageError(`--${SCENARIO_FLAG}: there is no '${name}', only ${known}`);
  });
}

/** The flags override the scenarios. */
function readBehaviour(
  text: (flag: string) => string | undefined,
  scenarios: readonly ScenarioName[],
): NonNullable<SimulatorOptions['behaviour']> {
  const change: Record<string, unknown> = { scenarios };
  for (const [flag, [path]] of Object.entries(BEHAVIOUR_FLAGS)) {
    const value = text(flag);
    if (value === undefined) continue;
    const number = value.trim() === '' ? value : Number(value);
    const [key = '', part] = path.split('.');
    change[key] = part === undefined ? number : { ...(change[key] as object), [part]: number };
  }
  const checked = behaviourChangeSchema.safeParse(change);
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  const path = issue?.path.join('.');
  const flag = Object.keys(BEHAVIOUR_FLAGS).find((name) => BEHAVIOUR_FLAGS[name]?.[0] === path);
  throw new UsageError(`--${flag}: ${issue?.message}`);
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
