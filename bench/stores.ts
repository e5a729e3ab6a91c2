/**
 * The stores a scenario runs on: the embedded one always, and a PostgreSQL with fsync on when one
 * is installed.
 */

import type { Lifetime } from '../test/support/lifetime.ts';
import { findPostgres, startPostgres } from '../test/support/postgres-server.ts';

export interface BenchStore {
  readonly name: 'embedded' | 'postgres';
  /** The database's URL; absent for the embedded one. */
  readonly url?: string;
  /** The first process of PostgreSQL; absent for the embedded one. */
  readonly pid?: number;
  /** The settings that make an engine use it. */
  readonly environment: Readonly<Record<string, string>>;
}

export async function benchStores(stage: Lifetime): Promise<readonly BenchStore[]> {
  const embedded: BenchStore = { name: 'embedded', environment: { EMBEDDED_FSYNC: '1' } };
  const bin = findPostgres();
  if (bin === null) {
    console.log('(no PostgreSQL is installed: embedded only)');
    return [embedded];
  }
  const server = await startPostgres(bin, { fsync: true });
  stage.teardown(() => server.stop());
  const environment = {
    DATABASE_URL: server.url,
    SECRET_KEY: 'a secret for the bench only, long enough',
    DEMO: '1',
  };
  return [embedded, { name: 'postgres', url: server.url, pid: server.pid, environment }];
}
