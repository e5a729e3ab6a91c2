/** The flags of the command, and what they say. */

import type { ScenarioName } from '../faults/scenarios.ts';
import { isScenarioName, SCENARIO_NAMES, SCENARIOS } from '../faults/scenarios.ts';
import { behaviourChangeSchema } from '../options.ts';
import { byProvider, SIMULATED_PROVIDERS } from '../providers.ts';
import type { SimulatorOptions } from '../simulator.ts';
import { ArgumentFault } from './argument-fault.ts';

/** A flag, as `parseArgs` of Node reads it and as help shows it. */
interface SimulatorFlag {
  readonly type: 'string';
  readonly multiple?: boolean;
  /** The word for its value in help. */
  readonly value: string;
  readonly choices?: readonly string[];
  readonly about: string;
}

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
  'certificate-file': 'write the certificate here; senders must trust it',
  'private-key-file':
    "keep the certificate's key here; the certificate then survives restarts (with --certificate-file)",
  'accounts-file': 'read the provider accounts from this file; create it when it does not exist',
};

/** The flag that may come more than once, each time with several names. */
const SCENARIO_FLAG = 'scenario';

const PORT_MAX = 65_535;
export const HOST = '127.0.0.1';

/** The work that the flags ask for. */
export interface SimulatorArguments {
  readonly options: SimulatorOptions;
  readonly certificateFile: string | undefined;
  readonly privateKeyFile: string | undefined;
  readonly accountsFile: string | undefined;
}

const flagsOf = (
  abouts: Readonly<Record<string, string>>,
  placeOf: (name: string) => string,
): Readonly<Record<string, SimulatorFlag>> =>
  Object.fromEntries(
    Object.entries(abouts).map(([name, about]) => [
      name,
      { type: 'string', value: placeOf(name), about },
    ]),
  );

export const FLAGS: Readonly<Record<string, SimulatorFlag>> = {
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

/** The rest of the help. */
export const NOTES = `Prints its addresses as one line of JSON when it is ready, and runs until SIGINT or SIGTERM. Shares are numbers from 0 to 1.

Scenarios may be combined, by commas or by more than one flag; the flags above override them:

${SCENARIO_NAMES.map((name) => `  ${name.padEnd(NAME_COLUMNS)}${SCENARIOS[name].about}`).join('\n')}`;

/** Reads the values of the flags. Throws an ArgumentFault for the first that is wrong. */
export function readArguments(values: Readonly<Record<string, unknown>>): SimulatorArguments {
  const text = (flag: string): string | undefined => {
    const value = values[flag];
    return typeof value === 'string' ? value : undefined;
  };
  const port = (flag: string): number => readPort(flag, text(flag) ?? '0');
  const privateKeyFile = text('private-key-file');
  if (privateKeyFile !== undefined && text('certificate-file') === undefined) {
    throw new ArgumentFault('--private-key-file goes with --certificate-file');
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
  throw new ArgumentFault(`--${flag} must be a port from 0 to ${PORT_MAX}, not '${value}'`);
}

function readScenarios(values: unknown): readonly ScenarioName[] {
  const names = Array.isArray(values) ? values.flatMap((value) => String(value).split(',')) : [];
  return names.map((name) => {
    if (isScenarioName(name)) return name;
    const known = SCENARIO_NAMES.join(', ');
    throw new ArgumentFault(`--${SCENARIO_FLAG}: there is no '${name}', only ${known}`);
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
  throw new ArgumentFault(`--${flag}: ${issue?.message}`);
}
