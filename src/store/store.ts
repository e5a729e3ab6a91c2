/** The opened store: PostgreSQL is the truth, embedded or real, behind one driver. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { databaseSocketPath } from './embedded/lock.ts';
import { startEmbeddedDatabase } from './embedded/thread.ts';
import { Line } from './line.ts';
import type { Migrated } from './migrate.ts';
import { migrate } from './migrate.ts';
import type { DatabaseAddress, SqlPool } from './sql.ts';
import { CLOSE_TIMEOUT_SECONDS, connect } from './sql.ts';

/** Opened and migrated. */
export interface Store extends Migrated {
  readonly sql: SqlPool;
  /** For worker threads, which open pools of their own. */
  readonly address: DatabaseAddress;
  /** A connection beside the pool, for one transaction at a time, each with these settings; closed with the store. */
  openLine(settings?: readonly string[]): Line;
  close(): Promise<void>;
}

/** Connections of the main thread: lanes, ledger, planner and HTTP reads. */
const CONNECTIONS_MAX = 16;

/** Connects to a real PostgreSQL (15 or later) and migrates it; `onWaiting` is told while a lock holds that up. */
export const openPostgres = (url: string, onWaiting?: () => void): Promise<Store> =>
  open({ kind: 'postgres', url }, () => Promise.resolve(), onWaiting);

/** Starts PGlite under `dataDir`, whose lock the caller holds, and migrates it. */
export async function openEmbedded(dataDir: string): Promise<Store> {
  const socketPath = databaseSocketPath(dataDir);
  const directory = join(dataDir, 'postgres');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const database = await startEmbeddedDatabase(directory, socketPath);
  return open({ kind: 'embedded', socketPath }, () => database.close());
}

async function open(
  address: DatabaseAddress,
  stop: () => Promise<void>,
  onWaiting: () => void = () => undefined,
): Promise<Store> {
  const sql = connect(address, CONNECTIONS_MAX);
  const lines: Line[] = [];
  const openLine = (settings: readonly string[] = []): Line => {
    const line = new Line(address, settings);
    lines.push(line);
    return line;
  };
  const close = async (): Promise<void> => {
    await Promise.all(lines.map((line) => line.close()));
    await sql.end({ timeout: CLOSE_TIMEOUT_SECONDS });
    await stop();
  };
  try {
    await checkVersion(sql);
    return { sql, address, openLine, ...(await migrate(sql, { onWaiting })), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The oldest that the tests run on. */
const VERSION_MIN = 150_000;

async function checkVersion(sql: SqlPool): Promise<void> {
  const [row] = await sql<{ version: number }[]>`
    select current_setting('server_version_num')::integer as version`;
  if (row === undefined || row.version < VERSION_MIN) {
    throw new Error('DATABASE_URL: PostgreSQL 15 or later is needed.');
  }
}
