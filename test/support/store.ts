/**
 * Runs a test on every store there is: the embedded one, and a database of its own on a real
 * PostgreSQL.
 */

import { randomBytes } from 'node:crypto';
import { cpSync } from 'node:fs';
import postgres from 'postgres';
import type { Test } from 'tap';
import type { Store } from '../../src/store/store.ts';
import { openEmbedded, openPostgres } from '../../src/store/store.ts';
import { databaseUrl, embeddedTemplate, skipsForbidden } from './environment.ts';
import type { Lifetime } from './lifetime.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** Runs `body` as two subtests, 'embedded' and 'postgres', each on an empty migrated store. */
export async function withStores(
  t: Test,
  body: (t: Test, store: Store) => Promise<void>,
): Promise<void> {
  await t.test('embedded', async (t) => body(t, await temporaryEmbedded(t)));
  await withPostgresStore(t, body);
}

/** Runs `body` as the subtest 'postgres' on an empty migrated store. */
export const withPostgresStore = (
  t: Test,
  body: (t: Test, store: Store) => Promise<void>,
): Promise<void> =>
  withPostgres(t, async (t, url) => {
    const store = await openPostgres(url);
    t.teardown(() => store.close());
    await body(t, store);
  });

/** An embedded store of its own, closed and removed when the test has ended. */
export async function temporaryEmbedded(t: Lifetime): Promise<Store> {
  const dataDir = temporaryDirectory(t);
  seedEmbedded(dataDir);
  const store = await openEmbedded(dataDir);
  t.teardown(() => store.close());
  return store;
}

/** An empty store on the PostgreSQL there is, else an embedded one. */
export async function temporaryStore(t: Lifetime): Promise<Store> {
  if (databaseUrl === undefined) return await temporaryEmbedded(t);
  const store = await openPostgres(await temporaryDatabase(t, databaseUrl));
  t.teardown(() => store.close());
  return store;
}

/** Puts a copy of the run's initialised database where an engine would make one. */
export function seedEmbedded(dataDir: string): void {
  if (embeddedTemplate !== undefined) cpSync(embeddedTemplate, dataDir, { recursive: true });
}

/**
 * Runs `body` as the subtest 'postgres' with the URL of an empty database; skips, loudly, when
 * there is no server.
 */
export async function withPostgres(
  t: Test,
  body: (t: Test, url: string) => Promise<void>,
): Promise<void> {
  const server = databaseUrl;
  if (server === undefined) {
    const reason = 'no PostgreSQL: set TEST_DATABASE_URL or install postgresql';
    if (skipsForbidden) t.fail(reason);
    else await t.test('postgres', { skip: reason }, () => undefined);
    return;
  }
  await t.test('postgres', async (t) => body(t, await temporaryDatabase(t, server)));
}

async function temporaryDatabase(t: Lifetime, server: string): Promise<string> {
  const name = `tagcast_${randomBytes(6).toString('hex')}`;
  const admin = postgres(server, { max: 1, onnotice: () => undefined });
  await admin.unsafe(`create database ${name}`);
  t.teardown(async () => {
    await admin.unsafe(`drop database if exists ${name} with (force)`);
    await admin.end();
  });
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
