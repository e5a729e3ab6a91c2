/**
 * The stores for all runs of the tests: a PostgreSQL, and an embedded directory to copy. Each run
 * would make its own otherwise, which costs more than most of its tests.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbedded } from '../../../src/database/store.ts';
import { databaseUrl } from '../environment.ts';
import { findPostgres, startPostgres } from '../postgres-server.ts';

export interface Stores {
  /** Makes the runner use them. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Opens both; without a PostgreSQL the embedded one alone. */
export async function openStores(parent: string): Promise<Stores> {
  const template = mkdtempSync(join(parent, 'tagcast-'));
  const store = await openEmbedded(template, { fsync: false });
  await store.close();
  const bin = findPostgres();
  const server =
    databaseUrl === undefined && bin !== null ? await startPostgres(bin, { fsync: false }) : null;
  const url = databaseUrl ?? server?.url;
  return {
    environment: {
      TEST_EMBEDDED_TEMPLATE: template,
      ...(url === undefined ? {} : { TEST_DATABASE_URL: url }),
    },
    async stop() {
      await server?.stop();
      rmSync(template, { recursive: true, force: true });
    },
  };
}
