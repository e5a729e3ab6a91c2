/** The thread of PGlite: a heavy statement must not block the one that answers HTTP. */

import { chmodSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { tellThreadVitals } from '../../std/thread-vitals.ts';
import { serveDatabase } from './bridge.ts';
import { START_PARAMS } from './settings.ts';

const { dataDir, socketPath } = workerData as {
  readonly dataDir: string;
  readonly socketPath: string;
};

const database = await PGlite.create({ dataDir, startParams: [...START_PARAMS] });
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
