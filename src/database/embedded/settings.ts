/** Start parameters of PGlite, for new and existing directories. */

import { PGlite } from '@electric-sql/pglite';
import { databaseFilesMaxOf, descriptorsMax } from '../../std/descriptors.ts';

/**
 * PostgreSQL's own cache, which the WASM memory holds for good. initdb wrote 128 MB into the
 * directory's configuration, as these fitted. The operating system caches the files anyway, in the
 * same machine's memory.
 * @limit PostgreSQL's own cache in the embedded database → read again from the operating system's
 */
const SHARED_BUFFERS = '32MB';

/**
 * PostgreSQL keeps files open, and cannot ask how many this process may have: WebAssembly has
 * descriptors of its own.
 */
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
