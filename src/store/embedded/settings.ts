/** How PGlite is started, on new directories and on those that are there already. */

import { PGlite } from '@electric-sql/pglite';

/**
 * PostgreSQL's own cache, which the WASM memory holds for good. The directory's configuration says
 * 128 MB, as initdb found that they fit; the files that are read are in the operating system's
 * cache anyway, in the same machine's memory.
 */
const SHARED_BUFFERS = '32MB';

/** Arguments of the server, which go before the directory's own configuration. */
export const START_PARAMS: readonly string[] = [
  ...PGlite.defaultStartParams,
  '-c',
  `shared_buffers=${SHARED_BUFFERS}`,
];
