/**
 * Where the engine of a test keeps its data if the kind of store makes no difference: on PostgreSQL
 * its process takes half the CPU that it takes with a database in itself.
 */

import { databaseTemplate } from './environment.ts';
import type { Lifetime } from './lifetime.ts';
import { storesWanted } from './runner/stores-wanted.ts';
import { createDatabase, seedEmbedded } from './store.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface EnginePlace {
  readonly dataDir: string;
  /** Settings of the engine, which has its demo. */
  readonly environment: Readonly<Record<string, string>>;
}

/** An empty one, migrated; it goes with the test. */
export async function enginePlace(t: Lifetime): Promise<EnginePlace> {
  const dataDir = temporaryDirectory(t);
  if (storesWanted() === 'embedded') {
    seedEmbedded(dataDir);
    return { dataDir, environment: {} };
  }
  const url = await createDatabase(t, databaseTemplate);
  const SECRET_KEY = 'a secret of the tests, long enough';
  return { dataDir, environment: { DATABASE_URL: url, SECRET_KEY, DEMO: '1' } };
}
