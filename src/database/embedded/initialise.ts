/** Makes a new embedded database in a process of its own, which gives back initdb's memory. */

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorReason } from '../../../packages/std/src/error-reason.ts';
import { syncFolder } from '../../std/sync-folder.ts';

/**
 * It takes about five seconds.
 * @limit making the embedded database → the start ends with a sentence; nothing is left
 */
const INITIALISE_MS_MAX = 180_000;
/** The beginning of what a failed initdb wrote: its last words are one line. */
const SAID_CHARACTERS_MAX = 300;
/** V8's optimising compiler takes more memory and time for this than it saves. */
const NODE_FLAGS = ['--liftoff-only'];
const ENTRY = fileURLToPath(new URL('./initialise-entry.js', import.meta.url));

/** `stopped`: the service is to end, and nothing of the database is left. */
export type Initialised = 'ready' | 'stopped';

export interface HowToMake {
  /** Whether what is made has to survive a power cut. */
  readonly fsync: boolean;
  readonly stopping: AbortSignal;
}

/**
 * Makes `directory` unless it is there. If the process is killed, it is complete or absent; with
 * `fsync` after a power cut, too. The caller holds the folder's lock. Rejects with an error whose
 * message is the reason.
 */
export async function initialise(directory: string, how: HowToMake): Promise<Initialised> {
  if (existsSync(join(directory, 'PG_VERSION'))) return 'ready';
  const folder = dirname(directory);
  const unfinished = `${basename(directory)}.new-`;
  // An initdb of a killed process may still run: it must not write into the new directory.
  for (const name of readdirSync(folder)) {
    if (name.startsWith(unfinished)) rmSync(join(folder, name), { recursive: true, force: true });
  }
  const made = join(folder, `${unfinished}${randomUUID()}`);
  mkdirSync(made, { mode: 0o700 });
  const ending = await runInitdb(made, how);
  if (ending !== 'done') {
    rmSync(made, { recursive: true, force: true });
    if (ending === 'stopped') return ending;
    throw new Error(ending.reason);
  }
  // It will hold device tokens: no other user may read it. initdb would let a group read.
  chmodSync(made, 0o700);
  renameSync(made, directory);
  if (how.fsync) syncFolder(folder);
  return 'ready';
}

type Ending = 'done' | 'stopped' | { readonly reason: string };

/** Resolves when the process has ended: it writes nothing more. */
async function runInitdb(path: string, { fsync, stopping }: HowToMake): Promise<Ending> {
  if (stopping.aborted) return 'stopped';
  const child = spawn(process.execPath, [...NODE_FLAGS, ENTRY, path, ...(fsync ? ['fsync'] : [])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, SAID_CHARACTERS_MAX);
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, INITIALISE_MS_MAX);
  const stop = (): void => void child.kill('SIGKILL');
  stopping.addEventListener('abort', stop);
  try {
    const [code, signal] = await endOf(child);
    if (code === 0) return 'done';
    // A terminal and a service manager send their signal to this process, too.
    if (stopping.aborted || signal === 'SIGINT' || signal === 'SIGTERM') return 'stopped';
    if (isLate) return { reason: LATE };
    return { reason: signal === null ? failureOf(code, said) : endedBy(signal) };
  } catch (error) {
    return { reason: `initdb cannot be started (${errorReason(error)})` };
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', stop);
  }
}

const endOf = async (
  child: ChildProcess,
): Promise<readonly [code: number | null, signal: NodeJS.Signals | null]> =>
  (await once(child, 'close')) as [number | null, NodeJS.Signals | null];

const LATE = `initdb did not end within ${INITIALISE_MS_MAX / 1_000} s: this machine, or its disk, is too busy`;
/** The system ends a process so when memory is short, and V8 itself when its heap is full. */
const ENDED_FOR_MEMORY: readonly NodeJS.Signals[] = ['SIGKILL', 'SIGABRT'];

const endedBy = (signal: NodeJS.Signals): string =>
  ENDED_FOR_MEMORY.includes(signal)
    ? `initdb was ended by ${signal}, as when memory is short: a first start needs 750 MB`
    : `initdb was ended by ${signal}`;

function failureOf(code: number | null, said: string): string {
  const words = said.trim().replace(/\s+/g, ' ');
  return `initdb has failed: ${words === '' ? `exit code ${code}` : words}`;
}
