/** Start parameters of PGlite, for new and existing directories. */

import { PGlite } from '@electric-sql/pglite';
import { databaseFilesMaxOf, descriptorsMax } from '../../std/descriptors.ts';

/**
 * The WASM memory holds it for good; the operating system caches the files anyway.
 * @limit PostgreSQL's own cache in the embedded database → read again from the operating system's
 */
const SHARED_BUFFERS = '32MB';

/** PostgreSQL cannot ask how many files this process may have open. */
export const FILES_PARAMS: readonly string[] = [
  '-c',
  `max_files_per_process=${databaseFilesMaxOf(descriptorsMax())}`,
];

/** Turns fsync off; among PGlite's own arguments. */
const WITHOUT_FSYNC = '-F';
/** PGlite's fdatasync, which PostgreSQL would choose, does nothing. */
const WITH_FSYNC: readonly string[] = ['-c', 'fsync=on', '-c', 'wal_sync_method=fsync'];

/** Arguments of the server, which go before the directory's own configuration. */
export const startParams = (fsync: boolean): string[] => [
  ...PGlite.defaultStartParams.filter((argument) => argument !== WITHOUT_FSYNC),
  ...(fsync ? WITH_FSYNC : [WITHOUT_FSYNC]),
  '-c',
  `shared_buffers=${SHARED_BUFFERS}`,
  ...FILES_PARAMS,
];
