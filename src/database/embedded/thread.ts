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

/** Serves the PGlite directory on `socketPath`. The caller holds the directory's lock. */
export async function startEmbeddedDatabase(
  dataDir: string,
  socketPath: string,
): Promise<EmbeddedDatabase> {
  // A process that was killed left its socket; the lock proves that no process listens there.
  rmSync(socketPath, { force: true });
  const worker = new Worker(new URL('./thread-entry.js', import.meta.url), {
    workerData: { dataDir, socketPath },
    resourceLimits: QUIET_THREAD_LIMITS,
  });
  await once(worker, 'message');
  worker.on('error', (error) => {
    process.stderr.write(
      `The embedded database has stopped: ${errorReason(error)}. Start the service again: everything that it confirmed is kept. If this happens again, move to a PostgreSQL of its own: \`tagcast store move\` brings everything there.\n`,
    );
    // Without the database no writes are confirmed: the service cannot go on.
    process.exit(1);
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
