/**
 * Runs a test on the stores there are: the embedded one, and a database on a real PostgreSQL. Which
 * of them a file's tests run on is said by the runner (`runner/select.ts`).
 */

import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import postgres from 'postgres';
import type { Test } from 'tap';
import { startInDataDir } from '../../src/database/embedded/data-dir.ts';
import { databaseSocketPath } from '../../src/database/embedded/lock.ts';
import { startEmbeddedDatabase } from '../../src/database/embedded/thread.ts';
import type { Store } from '../../src/database/store.ts';
import { openEmbedded, openStore } from '../../src/database/store.ts';
import { databaseOn } from './database-on.ts';
import { databaseTemplate, databaseUrl, embeddedTemplate, skipsForbidden } from './environment.ts';
import type { Lifetime } from './lifetime.ts';
import { storesWanted } from './runner/stores-wanted.ts';
import { PROCESS_LIFETIME, shared } from './shared.ts';
import type { PooledDatabase } from './store-pool.ts';
import { DatabasePool } from './store-pool.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/**
 * Makes and drops databases. A lane connects it before its first file: within a test, a socket that
 * is about to close would be taken for the one that stays.
 */
export const administrator = shared(async (lifetime) => {
  const sql = postgres(databaseUrl ?? '', { max: 1, onnotice: () => undefined });
  lifetime.teardown(() => sql.end());
  await sql`select`;
  return sql;
});
const embeddedPool = new DatabasePool(openEmbeddedDatabase);
const postgresPool = new DatabasePool(createMigratedDatabase);

/** Runs `body` as subtests, 'embedded' and 'postgres', each on an empty migrated store. */
export async function withStores(
  t: Test,
  body: (t: Test, store: Store) => Promise<void>,
): Promise<void> {
  await withEmbeddedStore(t, body);
  await withPostgresStore(t, body);
}

/** Runs `body` as the subtest 'embedded' on an empty migrated store. */
export async function withEmbeddedStore(
  t: Test,
  body: (t: Test, store: Store) => Promise<void>,
): Promise<void> {
  if (storesWanted() === 'postgres') return;
  await t.test('embedded', (t) => onStoreOf(t, embeddedPool, body));
}

/** Runs `body` as the subtest 'postgres' on an empty migrated store. */
export const withPostgresStore = (
  t: Test,
  body: (t: Test, store: Store) => Promise<void>,
): Promise<void> => onPostgres(t, (t) => onStoreOf(t, postgresPool, body));

/**
 * Any store, empty: of tests to which it makes no difference. On PostgreSQL, unless the run is
 * about the embedded one.
 */
export async function temporaryStore(t: Lifetime): Promise<Store> {
  const pool = storesWanted() === 'postgres' ? postgresPool : embeddedPool;
  const { store, end } = await openOn(pool);
  t.teardown(end);
  return store;
}

/** An embedded store of its own, closed and removed when the test has ended. */
export async function temporaryEmbedded(t: Lifetime): Promise<Store> {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const store = await openEmbedded(dataDir, { fsync: false });
  t.teardown(() => store.close());
  return store;
}

/** Puts a copy of the run's initialised database where an engine would make one. */
export function seedEmbedded(dataDir: string): void {
  if (embeddedTemplate !== undefined) cpSync(embeddedTemplate, dataDir, { recursive: true });
}

/** Runs `body` as the subtest 'postgres' with the URL of an empty database, without tables. */
export const withPostgres = (
  t: Test,
  body: (t: Test, url: string) => Promise<void>,
): Promise<void> => onPostgres(t, async (t) => body(t, await createDatabase(t)));

/** Runs `body` as the subtest 'postgres'; skips, loudly, when there is no server. */
export async function onPostgres(t: Test, body: (t: Test) => Promise<void>): Promise<void> {
  if (databaseUrl === undefined) {
    const reason = 'no PostgreSQL: set TEST_DATABASE_URL or install postgresql';
    if (skipsForbidden) t.fail(reason);
    else await t.test('postgres', { skip: reason }, () => undefined);
    return;
  }
  if (storesWanted() === 'embedded') return;
  await t.test('postgres', body);
}

async function onStoreOf(
  t: Test,
  pool: DatabasePool,
  body: (t: Test, store: Store) => Promise<void>,
): Promise<void> {
  const { store, end } = await openOn(pool);
  t.teardown(end);
  await body(t, store);
}

async function openOn(
  pool: DatabasePool,
): Promise<{ readonly store: Store; readonly end: () => Promise<void> }> {
  const pooled = await pool.take();
  const store = await openStore(pooled.address, pooled.database);
  const end = async (): Promise<void> => {
    await store.close();
    await pool.giveBack(pooled);
  };
  return { store, end };
}

async function openEmbeddedDatabase(): Promise<PooledDatabase> {
  const dataDir = temporaryDirectory(PROCESS_LIFETIME);
  seedEmbedded(dataDir);
  const socketPath = databaseSocketPath(dataDir);
  const database = await startInDataDir(dataDir, (directory) =>
    startEmbeddedDatabase({ dataDir: directory, socketPath, fsync: false }),
  );
  let isOpen = true;
  const discard = async (): Promise<void> => {
    if (isOpen) await database.close();
    isOpen = false;
  };
  PROCESS_LIFETIME.teardown(discard);
  return {
    address: { kind: 'embedded', socketPath },
    database: { vitals: database.vitals, close: () => Promise.resolve() },
    discard,
  };
}

/** From the run's template: making the tables takes four times as long as copying them. */
async function createMigratedDatabase(): Promise<PooledDatabase> {
  const url = await createDatabase(PROCESS_LIFETIME, databaseTemplate);
  // It is dropped with the process.
  return { address: { kind: 'postgres', url }, discard: () => Promise.resolve() };
}

/** A database on the run's PostgreSQL, dropped at the end of that life; answers its URL. */
export async function createDatabase(lifetime: Lifetime, template = 'template1'): Promise<string> {
  if (databaseUrl === undefined) throw new Error('there is no PostgreSQL server');
  const name = `tagcast_${randomBytes(6).toString('hex')}`;
  const sql = await administrator();
  await sql.unsafe(`create database ${name} template ${template} strategy file_copy`);
  lifetime.teardown(() => sql.unsafe(`drop database if exists ${name} with (force)`));
  return databaseOn(databaseUrl, name);
}
