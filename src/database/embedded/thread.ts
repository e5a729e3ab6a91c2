/** Starts and stops the embedded database in a thread of its own. */

import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { errorReason } from '../../../packages/std/src/error-reason.ts';
import { QUIET_THREAD_LIMITS } from '../../std/thread-limits.ts';
import type { ThreadVitals } from '../../std/thread-vitals.ts';
import { hearThreadVitals } from '../../std/thread-vitals.ts';

export interface EmbeddedDatabase {
  /** The latest vitals of its thread; null: none yet. */
  readonly vitals: () => ThreadVitals | null;
  /** Flushes and stops; all clients must have gone before. */
  close(): Promise<void>;
}

export interface ThreadOptions {
  /** The directory of PGlite. */
  readonly dataDir: string;
  readonly socketPath: string;
  readonly fsync: boolean;
}

/** The disk did not take what was to survive a power cut: the last message of the thread. */
export interface SyncFault {
  readonly message: string;
  /** The system's code; empty: it has none. */
  readonly code: string;
}

/** Serves the PGlite directory on `socketPath`. The caller holds the directory's lock. */
export async function startEmbeddedDatabase(options: ThreadOptions): Promise<EmbeddedDatabase> {
  // A process that was killed left its socket; the lock proves that no process listens there.
  rmSync(options.socketPath, { force: true });
  const worker = new Worker(new URL('./thread-entry.js', import.meta.url), {
    workerData: options,
    resourceLimits: QUIET_THREAD_LIMITS,
  });
  const [first] = (await once(worker, 'message')) as ['ready' | SyncFault];
  if (first !== 'ready') throw Object.assign(new Error(first.message), { code: first.code });
  worker.on('error', (error) => end(errorReason(error)));
  worker.on('message', (message: ThreadVitals | SyncFault) => {
    if ('code' in message) end(`its disk did not take what was written (${message.message})`);
  });
  return {
    vitals: hearThreadVitals(worker),
    async close() {
      const exited = once(worker, 'exit');
      worker.postMessage('close');
      await exited;
    },
  };
}

/** Without the database no writes are confirmed: the service cannot go on. */
function end(reason: string): never {
  process.stderr.write(
    `The embedded database has stopped: ${reason}. Start the service again: everything that it confirmed is kept. If this happens again, move to a PostgreSQL of its own: \`tagcast store move\` brings everything there.\n`,
  );
  process.exit(1);
}
