/** Start parameters of PGlite, for new and existing directories. */

import { PGlite } from '@electric-sql/pglite';

/**
 * PostgreSQL's own cache, which the WASM memory holds for good. initdb wrote 128 MB into the
 * directory's configuration, as these fitted. The operating system caches the files anyway, in the
 * same machine's memory.
 */
const SHARED_BUFFERS = '32MB';

/** Arguments of the server, which go before the directory's own configuration. */
export const START_PARAMS: readonly string[] = [
  ...PGlite.defaultStartParams,
  '-c',
  `shared_buffers=${SHARED_BUFFERS}`,
];
