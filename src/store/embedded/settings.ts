/** Start parameters of PGlite, for new and existing directories. */

import { PGlite } from '@electric-sql/pglite';

/**
 * PostgreSQL's own cache, which the WASM memory holds for good. initdb has found room for 128 MB,
 * and has written that into the directory's configuration. A large one is of no use: the operating
 * system caches the files too, in the same machine's memory.
 */
const SHARED_BUFFERS = '32MB';

/** Arguments of the server, which go before the directory's own configuration. */
export const START_PARAMS: readonly string[] = [
  ...PGlite.defaultStartParams,
  '-c',
  `shared_buffers=${SHARED_BUFFERS}`,
];
