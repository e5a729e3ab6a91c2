/** Programs that a machine may or may not have, and their processes for the life of a test. */

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Lifetime } from './lifetime.ts';
import { until } from './poll.ts';

/** Debian keeps servers here, which is on PATH for root only. */
const DEBIAN_SERVERS = '/usr/sbin';

/** The path of a program; null when it is not installed. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), DEBIAN_SERVERS];
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null;
}

/** Between asking for a free port and binding it another process may take it. */
const ATTEMPTS = 3;
const READY_WITHIN_MS = 10_000;

/**
 * Starts a server on free loopback ports, as many as asked for, and waits until it listens on all
 * of them; it is killed with the test. It has to stay in the foreground and to end when it cannot
 * bind.
 */
export async function startServer(
  t: Lifetime,
  portCount: number,
  commandOf: (ports: readonly number[]) => readonly [program: string, ...args: string[]],
): Promise<readonly number[]> {
  for (let attempt = 1; ; attempt += 1) {
    const ports = await freePorts(portCount);
    const [program, ...args] = commandOf(ports);
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const log = collect(child);
    t.teardown(() => kill(child));
    const isUp = await until(
      `${program} listens`,
      () => isListening(child, ports),
      READY_WITHIN_MS,
    );
    if (isUp) {
      child.once('exit', (code, signal) => {
        if (!child.killed) process.emitWarning(`${program} ended (${code ?? signal}): ${log()}`);
      });
      return ports;
    }
    if (attempt === ATTEMPTS) throw new Error(`${program} did not start: ${log()}`);
  }
}

/** True: it listens; false: it has ended; null: neither yet. */
export async function isListening(
  child: ChildProcess,
  ports: readonly number[],
): Promise<boolean | null> {
  const answers = await Promise.all(ports.map(accepts));
  // Looked at last: a listener that accepts is another one if this one has gone.
  if (hasEnded(child)) return false;
  return answers.every((isAccepted) => isAccepted) ? true : null;
}

const hasEnded = (child: ChildProcess): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** How a program ended and what it wrote. */
export interface Ran {
  readonly code: number | null;
  readonly out: Buffer;
  readonly err: string;
}

/** Runs a program to its end; it is killed with the test. */
export async function runProgram(
  t: Lifetime,
  program: string,
  args: readonly string[],
  { cwd }: { readonly cwd?: string } = {},
): Promise<Ran> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => kill(child));
  const [out, err, [code]] = await Promise.all([
    buffer(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  return { code, out, err };
}

/**
 * Below the ports that systems give to connections (from 32,768), above those that fetch refuses.
 */
const PORTS = { from: 12_000, below: 22_000 };
/** A node of a Redis cluster also listens so much higher: below 32,768, too. */
const CLUSTER_BUS_OFFSET = 10_000;

/**
 * Ports that nothing listens on, and that the system gives to no connection before they are used.
 * A port that the system itself names has such a connection within minutes of a run.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.below - PORTS.from));
    if ((await isFree(port)) && (await isFree(port + CLUSTER_BUS_OFFSET))) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  await promisify(server.close.bind(server))();
  return true;
}

/**
 * Read to the end of its life, or the pipe fills and the server stops; what is kept is for an
 * error's message.
 */
export function collect(child: ChildProcess): () => string {
  let log = '';
  const add = (text: string): void => {
    if (log.length < 100_000) log += text;
  };
  child.stdout?.setEncoding('utf8').on('data', add);
  child.stderr?.setEncoding('utf8').on('data', add);
  child.once('error', (error) => add(error.message));
  return () => log;
}

async function kill(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
