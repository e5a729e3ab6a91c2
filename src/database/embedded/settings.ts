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

/** Arguments of the server, which go before the directory's own configuration. */
export const START_PARAMS: readonly string[] = [
  ...PGlite.defaultStartParams,
  '-c',
  `shared_buffers=${SHARED_BUFFERS}`,
  ...FILES_PARAMS,
];
