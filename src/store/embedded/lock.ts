/**
 * One engine per data directory: two processes on one PGlite directory destroy it, silently.
 *
 * The process that holds the directory listens on the Unix socket `engine.sock` in it; commands
 * talk to the engine there. On Linux an abstract socket named after the directory's inode is bound
 * as well: it is atomic and vanishes with its process, so two engines that start in the same
 * instant cannot both find a stale socket file and take it over.
 */

import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { makeDirectory } from './data-dir.ts';

/** sun_path of Unix sockets holds 108 bytes on Linux, 104 on macOS, with the closing NUL. */
const SOCKET_PATH_BYTES_MAX = 103;
/**
 * A socket that has neither accepted nor refused after this time counts as held: an engine may be
 * blocked.
 */
const ANSWER_TIMEOUT_MS = 2_000;

export type LockResult =
  | { readonly kind: 'held'; readonly server: Server; release(): Promise<void> }
  /** `pid` as the holder has written it; null in the instant before. */
  | { readonly kind: 'taken'; readonly pid: number | null }
  | { readonly kind: 'path-too-long'; readonly bytesMax: number };

/** The socket on which the engine of a data directory listens. */
export const engineSocketPath = (dataDir: string): string => join(dataDir, 'engine.sock');
/** The socket on which its database is served. */
export const databaseSocketPath = (dataDir: string): string => join(dataDir, 'database.sock');

/**
 * Takes the directory (made 0700 if missing), or says why not. `onConnection` gets every command's
 * connection.
 */
export async function lockDataDir(
  dataDir: string,
  onConnection: (socket: Socket) => void,
): Promise<LockResult> {
  const path = engineSocketPath(dataDir);
  if (Buffer.byteLength(databaseSocketPath(dataDir)) > SOCKET_PATH_BYTES_MAX) {
    return { kind: 'path-too-long', bytesMax: SOCKET_PATH_BYTES_MAX };
  }
  makeDirectory(dataDir);
  const guard = process.platform === 'linux' ? await listen(abstractName(dataDir)) : null;
  if (guard === 'in-use' || (await answers(path))) {
    if (guard !== null && guard !== 'in-use') guard.close();
    return taken(dataDir);
  }
  rmSync(path, { force: true });
  const server = await listen(path, onConnection);
  if (server === 'in-use') return taken(dataDir);
  chmodSync(path, 0o600);
  writeFileSync(pidPath(dataDir), `${process.pid}\n`);
  return {
    kind: 'held',
    server,
    async release() {
      // While nobody else can hold the directory.
      rmSync(pidPath(dataDir), { force: true });
      guard?.close();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}

/**
 * Who holds the directory, without touching it; null: nobody. `pid` null: it has not written it
 * yet.
 */
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

/** Named by inode, so that two spellings of one directory give one name. */
function abstractName(dataDir: string): string {
  const { dev, ino } = statSync(dataDir);
  return `\0tagcast-${dev}-${ino}`;
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

/** Whether a process listens there. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => finish(true));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
