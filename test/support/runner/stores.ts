/** The stores of a run: what its test files find in their environment. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { openEmbedded, openPostgres } from '../../../src/database/store.ts';
import { databaseOn } from '../database-on.ts';
import { databaseUrl, embeddedTemplate } from '../environment.ts';
import { findPostgres, startPostgres } from '../postgres-server.ts';

export interface RunStores {
  readonly environment: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

/** Whether tests have a PostgreSQL: one is installed, or TEST_DATABASE_URL names one. */
export const hasPostgres = (): boolean => databaseUrl !== undefined || findPostgres() !== null;

/**
 * Starts a PostgreSQL, or takes the one that TEST_DATABASE_URL names, and makes a migrated database
 * for tests to copy. `isEmbeddedWanted`: an embedded one too, unless TEST_EMBEDDED_TEMPLATE names
 * it. It takes seconds of CPU.
 */
export async function openStores(isEmbeddedWanted: boolean): Promise<RunStores> {
  const [server, embedded] = await Promise.all([
    openServer(),
    isEmbeddedWanted && embeddedTemplate === undefined ? makeEmbedded() : null,
  ]);
  return {
    environment: { ...server?.environment, ...embedded?.environment },
    async close() {
      await server?.close();
      await embedded?.close();
    },
  };
}

async function makeEmbedded(): Promise<RunStores> {
  const directory = mkdtempSync(join(tmpdir(), 'tagcast-'));
  const store = await openEmbedded(directory, { fsync: false });
  await store.close();
  return {
    environment: { TEST_EMBEDDED_TEMPLATE: directory },
    close: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

async function openServer(): Promise<RunStores | null> {
  const bin = databaseUrl === undefined ? findPostgres() : null;
  const own = bin === null ? null : await startPostgres(bin, { fsync: false });
  const url = databaseUrl ?? own?.url;
  if (url === undefined) {
    process.stderr.write(
      '\n*** No PostgreSQL is installed and TEST_DATABASE_URL is not set: every test on a real PostgreSQL is SKIPPED. ***\n\n',
    );
    return null;
  }
  const name = `tagcast_template_${process.pid}`;
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql.unsafe(`create database ${name}`);
  const store = await openPostgres(databaseOn(url, name));
  await store.close();
  return {
    environment: { TEST_DATABASE_URL: url, TEST_DATABASE_TEMPLATE: name },
    async close() {
      await sql.unsafe(`drop database ${name} with (force)`);
      await sql.end();
      await own?.stop();
    },
  };
}
