/** The thread of PGlite: a heavy statement must not block the one that answers HTTP. */

import { chmodSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { tellThreadVitals } from '../../std/thread-vitals.ts';
import { serveDatabase } from './bridge.ts';
import { openPglite } from './open-pglite.ts';
import type { SyncFault, ThreadOptions } from './thread.ts';
import { thrownCode, thrownText } from './thrown.ts';

const { dataDir, socketPath, fsync } = workerData as ThreadOptions;

/** At once: after a failed fsync nothing of the database may be written, or confirmed. */
function endWith(error: unknown): never {
  const fault: SyncFault = { message: thrownText(error), code: thrownCode(error) };
  parentPort?.postMessage(fault);
  process.exit(1);
}

const database = await openPglite(dataDir, fsync, endWith);
const bridge = await serveDatabase(database, socketPath, (reason) => {
  // Thrown outside of the present call, which would take it for a fault of one connection.
  setImmediate(() => {
    throw new Error(reason);
  });
});
// The database asks for no password: only this user may connect.
chmodSync(socketPath, 0o600);

parentPort?.once('message', () => {
  bridge
    .close()
    .then(() => database.close())
    .then(
      () => process.exit(0),
      () => process.exit(1),
    );
});
parentPort?.postMessage('ready');
tellThreadVitals(
  (vitals) => parentPort?.postMessage(vitals),
  () => database.Module['HEAPU8'].byteLength,
);
