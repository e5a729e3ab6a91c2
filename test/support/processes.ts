/**
 * Real processes of the product: engines, a simulator, commands. Each ends with its test at the
 * latest.
 */

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Lifetime } from './lifetime.ts';
import { NODE_FLAGS } from './node-flags.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** The program. */
export const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.js');
/** An embedded engine's first start makes a database, with the machine's other tests beside it. */
const START_TIMEOUT_MS = 120_000;

/** The content of DATA_DIR/demo.json, which an engine with a demo writes. */
export interface Demo {
  readonly baseUrl: string;
  /** Signs in to the console, once; on the embedded database only. */
  readonly consoleUrl?: string;
  readonly clientId: string;
  readonly appId: number;
  readonly platformIds: readonly number[];
  readonly tagIds: readonly number[];
  readonly tagSourceIds: readonly string[];
  readonly apiUser: {
    readonly username: string;
    readonly password: string;
    readonly token: string;
  };
  readonly superUser: {
    readonly username: string;
    readonly password: string;
    readonly token: string;
  };
  readonly simulator: {
    readonly apnsOrigin: string;
    readonly fcmOrigin: string;
    readonly controlUrl: string;
  };
}

export interface EngineProcess {
  readonly child: ChildProcess;
  readonly dataDir: string;
  readonly baseUrl: string;
  /** Everything it has logged and printed. */
  output(): string;
  /** Resolves when it has gone and its output is whole: with its exit code or its signal. */
  readonly ended: Promise<number | string>;
  demo(): Demo;
  /** Sends a signal and resolves with the exit code, or the signal's name, when it has gone. */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

type Environment = Readonly<Record<string, string>>;

interface How {
  /** A program that runs it, with its arguments. */
  readonly under?: readonly string[];
  /** Flags of Node.js, in place of the usual ones. */
  readonly nodeFlags?: readonly string[];
  /** The program of another place, in place of what is tested. */
  readonly main?: string;
}

/** Starts an engine on a free port and waits until it listens. */
export async function startEngine(
  t: Lifetime,
  dataDir: string,
  environment: Environment = {},
  how: How = {},
): Promise<EngineProcess> {
  const settings = { PORT: '0', DATA_DIR: dataDir, ...environment };
  const { child, output, ended, end } = launch(t, [], settings, how);
  const line = await lineMatching(child, output, /"msg":"listening"/);
  const { url } = JSON.parse(line) as { readonly url: string };
  return {
    child,
    dataDir,
    baseUrl: url,
    output,
    ended,
    demo: () => JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo,
    end,
  };
}

export interface SimulatorProcess {
  readonly apnsOrigin: string;
  readonly fcmOrigin: string;
  readonly oauthOrigin: string;
  readonly webPushOrigin: string;
  readonly controlUrl: string;
  /** Makes an engine send to it. */
  readonly environment: Environment;
  readonly accountsFile: string;
  readonly certificateFile: string;
  end(signal: NodeJS.Signals): Promise<number | string>;
}

/** Starts a simulator in a process of its own, which outlives the engines that a test kills. */
export async function startSimulatorProcess(
  t: Lifetime,
  flags: readonly string[] = [],
  environment: Environment = {},
): Promise<SimulatorProcess> {
  const directory = temporaryDirectory(t);
  const certificateFile = join(directory, 'ca.pem');
  const accountsFile = join(directory, 'accounts.json');
  const { child, output, end } = launch(
    t,
    [
      'simulate',
      `--certificate-file=${certificateFile}`,
      `--accounts-file=${accountsFile}`,
      ...flags,
    ],
    environment,
  );
  const line = await lineMatching(child, output, /"apnsOrigin"/);
  const origins = JSON.parse(line) as Omit<
    SimulatorProcess,
    'environment' | 'accountsFile' | 'certificateFile' | 'end'
  >;
  return {
    ...origins,
    accountsFile,
    certificateFile,
    environment: {
      APNS_ORIGIN: origins.apnsOrigin,
      FCM_ORIGIN: origins.fcmOrigin,
      OAUTH_ORIGIN: origins.oauthOrigin,
      WEB_PUSH_HOSTS: new URL(origins.webPushOrigin).host,
      PROVIDER_CA_FILE: certificateFile,
    },
    end,
  };
}

/** Runs a command to its end: all that it wrote, and what of it went to standard error. */
export async function runCommand(
  t: Lifetime,
  args: readonly string[],
  environment: Environment = {},
  how: How = {},
): Promise<{ readonly code: number | string; readonly output: string; readonly errors: string }> {
  const { output, errors, ended } = launch(t, args, environment, how);
  return { code: await ended, output: output(), errors: errors() };
}

/** Starts a command, for a test to end. */
export function startCommand(
  t: Lifetime,
  args: readonly string[],
  environment: Environment = {},
): Launched {
  return launch(t, args, environment);
}

type Launched = Pick<EngineProcess, 'child' | 'output' | 'ended' | 'end'> & { errors(): string };

function launch(
  t: Lifetime,
  args: readonly string[],
  environment: Environment = {},
  { under = [], nodeFlags = NODE_FLAGS, main = MAIN }: How = {},
): Launched {
  const [program = '', ...rest] = [...under, process.execPath, ...nodeFlags, main, ...args];
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Nothing of the run's own environment but what a process needs: a test says what it
    // configures. No test cuts the power, and few count devices that they have not made.
    env: { PATH: process.env['PATH'], EMBEDDED_FSYNC: '0', DEMO_DEVICES: '0', ...environment },
  });
  let text = '';
  const collect = (chunk: string): void => {
    text += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
    collect(chunk);
  });
  const ended = endOf(child);
  const end = (signal: NodeJS.Signals): Promise<number | string> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    return ended;
  };
  t.teardown(() => end('SIGKILL'));
  return { child, output: () => text, errors: () => errors, ended, end };
}

/** At the event `exit` some of what it wrote may still be on its way. */
const endOf = (child: ChildProcess): Promise<number | string> =>
  new Promise((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal ?? ''));
  });

function lineMatching(child: ChildProcess, output: () => string, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      child.stdout?.off('data', look);
      child.off('exit', onExit);
    };
    const look = (): void => {
      const lines = output().split('\n').slice(0, -1);
      const line = lines.find((candidate) => pattern.test(candidate));
      if (line === undefined) return;
      stop();
      resolve(line);
    };
    const onExit = (): void => {
      stop();
      reject(new Error(`ended before it was ready:\n${output()}`));
    };
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`not ready within ${START_TIMEOUT_MS} ms:\n${output()}`));
    }, START_TIMEOUT_MS);
    child.stdout?.on('data', look);
    child.once('exit', onExit);
    look();
  });
}
