/** Opens the database in a directory with PGlite, in this thread. */

import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { DurableFiles } from './durable-files.ts';
import { startParams } from './settings.ts';

/** `failed` is called when an fsync fails, and must end the thread: PGlite would go on. */
export const openPglite = (
  directory: string,
  fsync: boolean,
  failed: (error: unknown) => never,
): Promise<PGlite> =>
  PGlite.create({
    fs: fsync ? new DurableFiles(directory, failed) : new NodeFS(directory),
    startParams: startParams(fsync),
  });
