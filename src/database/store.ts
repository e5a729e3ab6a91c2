/** The opened store: PostgreSQL holds all data, embedded or real, with one driver for both. */

import { SettingFault } from '../std/setting-fault.ts';
import type { ThreadVitals } from '../std/thread-vitals.ts';
import { POOL_CONNECTIONS_MAX } from './connections.ts';
import { databaseFault } from './database-fault.ts';
import type { TransactionSettings } from './dedicated-connection.ts';
import { DedicatedConnection } from './dedicated-connection.ts';
import { makeInDataDir, startInDataDir } from './embedded/data-dir.ts';
import type { Initialised } from './embedded/initialise.ts';
import { databaseSocketPath } from './embedded/lock.ts';
import type { EmbeddedDatabase } from './embedded/thread.ts';
import { startEmbeddedDatabase } from './embedded/thread.ts';
import { checkSessionSettings, findAddress } from './find-address.ts';
import type { Migrated, MigrateOptions } from './migrate.ts';
import { migrate } from './migrate.ts';
import type { Perform } from './patient-reads.ts';
import { PATIENT_READS_MAX, PatientReads } from './patient-reads.ts';
import type { DatabaseAddress, SqlPool } from './sql.ts';
import { CLOSE_TIMEOUT_SECONDS, connect } from './sql.ts';
import { transact } from './transact.ts';

export interface Store extends Migrated {
  readonly sql: SqlPool;
  /** For reads that may take seconds: beside the pool, where there are more sessions than one. */
  readonly patientReads: PatientReads;
  /** For worker threads, which open pools of their own. */
  readonly address: DatabaseAddress;
  /** For one transaction at a time, each with these settings; closed with the store. */
  openDedicatedConnection(settings?: TransactionSettings): DedicatedConnection;
  /** Vitals of the embedded database's thread; null: it runs elsewhere, or sent none yet. */
  readonly threadVitals: () => ThreadVitals | null;
  close(): Promise<void>;
}

const NEVER_STOPPED = new AbortController().signal;

/** `onWaiting`: a lock delays the migration. */
type Migrating = Pick<MigrateOptions, 'onWaiting' | 'besideOldNodes'>;

/** `fsync`: whether what it confirms survives a power cut. */
export interface EmbeddedOptions {
  readonly fsync: boolean;
}

/** A database that this process does not run. */
const ELSEWHERE: EmbeddedDatabase = { vitals: () => null, close: () => Promise.resolve() };

/** Connects to a PostgreSQL (15 or later) and migrates it. */
export async function openPostgres(url: string, options: Migrating = {}): Promise<Store> {
  try {
    return await openStore(await findAddress(url), ELSEWHERE, options);
  } catch (error) {
    throw error instanceof SettingFault ? error : databaseFault(url, error);
  }
}

/** Makes PGlite's files under `dataDir`, whose lock the caller holds; takes seconds. */
export const makeEmbedded = (
  dataDir: string,
  { fsync }: EmbeddedOptions,
  stopping: AbortSignal,
): Promise<Initialised> => makeInDataDir(dataDir, { fsync, stopping });

/** Starts PGlite under `dataDir`, whose lock the caller holds, and migrates it. */
export async function openEmbedded(dataDir: string, { fsync }: EmbeddedOptions): Promise<Store> {
  await makeEmbedded(dataDir, { fsync }, NEVER_STOPPED);
  const socketPath = databaseSocketPath(dataDir);
  const database = await startInDataDir(dataDir, (directory) =>
    startEmbeddedDatabase({ dataDir: directory, socketPath, fsync }),
  );
  // The node that held the directory before has ended, also when it has beaten just now.
  return openStore({ kind: 'embedded', socketPath }, database, { besideOldNodes: true });
}

/** Connects to a database that runs already, and migrates it. The store closes it with itself. */
export async function openStore(
  address: DatabaseAddress,
  database: EmbeddedDatabase = ELSEWHERE,
  migrating: Migrating = {},
): Promise<Store> {
  const sql = connect(address, POOL_CONNECTIONS_MAX);
  const patientSql = connect(address, PATIENT_READS_MAX);
  const connections: DedicatedConnection[] = [];
  const openDedicatedConnection = (settings: TransactionSettings = {}): DedicatedConnection => {
    const connection = new DedicatedConnection(address, settings);
    connections.push(connection);
    return connection;
  };
  const close = async (): Promise<void> => {
    await Promise.all(connections.map((connection) => connection.close()));
    await Promise.all(
      [sql, patientSql].map((pool) => pool.end({ timeout: CLOSE_TIMEOUT_SECONDS })),
    );
    await database.close();
  };
  try {
    await checkVersion(sql);
    if (address.kind === 'postgres') await checkSessionSettings(sql);
    const migrated = await migrate(sql, migrating);
    const patientReads = new PatientReads(performOn(patientSql, address));
    const { vitals: threadVitals } = database;
    return {
      sql,
      patientReads,
      address,
      openDedicatedConnection,
      ...migrated,
      threadVitals,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * In a transaction, because poolers pass on only its time-outs. The embedded database has none, and
 * a transaction would block all other statements.
 */
const performOn = (sql: SqlPool, { kind }: DatabaseAddress): Perform =>
  kind === 'embedded' ? (work) => work(sql) : (work) => transact(sql, work);

/** The oldest that the tests run on. */
export const POSTGRES_VERSION_MIN = 150_000;

async function checkVersion(sql: SqlPool): Promise<void> {
  const [row] = await sql<{ number: number; version: string }[]>`
    select current_setting('server_version_num')::integer as number,
      current_setting('server_version') as version`;
  if (row === undefined || row.number < POSTGRES_VERSION_MIN) {
    throw new SettingFault(
      `DATABASE_URL: PostgreSQL 15 or later is needed, and this is ${row?.version}.`,
    );
  }
}
