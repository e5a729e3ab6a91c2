/**
 * Holds a data directory for one engine: two processes on a PGlite directory destroy it, silently.
 * The holder listens on `engine.sock`, where commands talk to it. On Linux it also binds an
 * abstract name: atomic, so two engines cannot both take over a stale file. Any user can see and
 * bind such names: so it is a secret of the directory, replaced as soon as the socket answers.
 */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDirectory } from './data-dir.ts';
import { holderName, isProven, proveTo } from './holder-proof.ts';

/**
 * sun_path of Unix sockets holds 108 bytes on Linux, 104 on macOS, with the closing NUL.
 * @limit path of `DATA_DIR` with a socket in it → the start is refused
 */
const SOCKET_PATH_BYTES_MAX = 103;
/**
 * A blocked engine does not answer.
 * @limit answer of who holds `DATA_DIR` → it counts as held
 */
const ANSWER_TIMEOUT_MS = 2_000;
/** An engine of the version before binds the former name before its socket answers. */
const FORMER_START_MS = 500;

const HAS_ABSTRACT_NAMES = process.platform === 'linux';

export type LockResult =
  | { readonly kind: 'held'; readonly server: Server; release(): Promise<void> }
  /** `pid` as the holder has written it; null in the instant before. */
  | { readonly kind: 'taken'; readonly pid: number | null }
  | { readonly kind: 'path-too-long'; readonly bytesMax: number };

export const engineSocketPath = (dataDir: string): string => join(dataDir, 'engine.sock');
export const databaseSocketPath = (dataDir: string): string => join(dataDir, 'database.sock');

/** Takes the directory, or says why not. `onConnection` gets every command's connection. */
export async function lockDataDir(
  dataDir: string,
  onConnection: (socket: Socket) => void,
): Promise<LockResult> {
  const path = engineSocketPath(dataDir);
  if (Buffer.byteLength(databaseSocketPath(dataDir)) > SOCKET_PATH_BYTES_MAX) {
    return { kind: 'path-too-long', bytesMax: SOCKET_PATH_BYTES_MAX };
  }
  makeDirectory(dataDir);
  if ((await answers(path)) || (await hasHolder(dataDir))) return taken(dataDir);
  const guards = HAS_ABSTRACT_NAMES ? await bindGuards(dataDir) : [];
  if (guards === 'in-use' || (await answers(path))) {
    if (guards !== 'in-use') closeAll(guards);
    return taken(dataDir);
  }
  rmSync(path, { force: true });
  const server = await listen(path, onConnection);
  if (server === 'in-use') {
    closeAll(guards);
    return taken(dataDir);
  }
  chmodSync(path, 0o600);
  const proof = await replaceSecret(dataDir);
  writeFileSync(pidPath(dataDir), `${process.pid}\n`);
  return {
    kind: 'held',
    server,
    async release() {
      // Removed first, while no other process can hold the directory.
      rmSync(pidPath(dataDir), { force: true });
      closeAll([...guards, ...proof]);
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

/** Finds the holder, and touches nothing; null: none. `pid` null: not written yet. */
export async function holderOf(dataDir: string): Promise<{ readonly pid: number | null } | null> {
  return (await answers(engineSocketPath(dataDir))) ? { pid: pidIn(dataDir) } : null;
}

const pidPath = (dataDir: string): string => join(dataDir, 'engine.pid');

const taken = (dataDir: string): LockResult => ({ kind: 'taken', pid: pidIn(dataDir) });

/** Null: the holder has the socket, but has not written its process id yet. */
function pidIn(dataDir: string): number | null {
  try {
    return Number(readFileSync(pidPath(dataDir), 'utf8'));
  } catch {
    return null;
  }
}

const closeAll = (servers: readonly Server[]): void => {
  for (const server of servers) server.close();
};

/** The secret name; also the former one, for nodes of the version before: it decides nothing. */
async function bindGuards(dataDir: string): Promise<readonly Server[] | 'in-use'> {
  const guard = await bindSecretName(dataDir);
  if (guard === 'in-use') return guard;
  const former = await listen(formerName(dataDir));
  if (former !== 'in-use') return [guard, former];
  await sleep(FORMER_START_MS);
  return [guard];
}

/** A secret that was replaced since it was read is the one of a holder that came before. */
async function bindSecretName(dataDir: string): Promise<Server | 'in-use'> {
  for (;;) {
    const secret = readSecret(dataDir);
    const guard = await listen(`${formerName(dataDir)}-${secret}`);
    if (guard === 'in-use' || readSecret(dataDir) === secret) return guard;
    guard.close();
  }
}

/** Named by inode: one directory has one name, whatever its spelling, and a copy another. */
function formerName(dataDir: string): string {
  const { dev, ino } = statSync(dataDir);
  return `\0tagcast-${dev}-${ino}`;
}

const secretPath = (dataDir: string): string => join(dataDir, 'engine.lock');

/** When many processes make one in the same instant, one succeeds. */
function readSecret(dataDir: string): string {
  const path = secretPath(dataDir);
  if (!existsSync(path)) {
    const made = writeSecret(dataDir, randomUUID());
    try {
      linkSync(made, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(made, { force: true });
    }
  }
  return readFileSync(path, 'utf8');
}

/** For the next holder. Returns what listens on the name that goes with it. */
async function replaceSecret(dataDir: string): Promise<readonly Server[]> {
  const secret = randomUUID();
  const made = writeSecret(dataDir, secret);
  const name = holderName(formerName(dataDir), secret);
  const server = HAS_ABSTRACT_NAMES ? await listen(name, proveTo(secret)) : 'in-use';
  renameSync(made, secretPath(dataDir));
  return server === 'in-use' ? [] : [server];
}

/** Whether a process holds the directory though no file of its socket is there. */
const hasHolder = async (dataDir: string): Promise<boolean> =>
  HAS_ABSTRACT_NAMES &&
  existsSync(secretPath(dataDir)) &&
  (await isProven(formerName(dataDir), readSecret(dataDir)));

function writeSecret(dataDir: string, secret: string): string {
  const path = `${secretPath(dataDir)}.${randomUUID()}`;
  writeFileSync(path, secret, { mode: 0o600 });
  return path;
}

function listen(
  path: string,
  onConnection: (socket: Socket) => void = (socket) => socket.destroy(),
): Promise<Server | 'in-use'> {
  const server = createServer(onConnection);
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve('in-use');
      else reject(error);
    });
    server.listen(path, () => resolve(server));
  });
}

/** Errors of a connection where no process listens: every other fault leaves it open. */
const NOBODY: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTSOCK']);

/** Whether a process listens there, or may do so: one with a full queue refuses by EAGAIN. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => finish(true));
    socket.once('connect', () => finish(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => finish(!NOBODY.has(code)));
  });
}
