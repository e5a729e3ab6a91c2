/** Opens both ends of `tagcast store move`, and knows what an engine needs on the new one. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { secretKeyFault } from '../../access/credentials.ts';
import { keepSecretKey, secretKeyPath } from '../../access/secret-key.ts';
import type { Secrets } from '../../access/secrets.ts';
import { createSecrets } from '../../access/secrets.ts';
import { UsageError } from '../../cli/arguments.ts';
import type { MovedTo } from '../../cli/store.ts';
import { databaseFault, isOfDatabase } from '../../database/database-fault.ts';
import { describePlace, readDatabaseUrl } from '../../database/database-url.ts';
import { dataDirFault, holdsDatabase } from '../../database/embedded/data-dir.ts';
import { findAddress } from '../../database/find-address.ts';
import { onEmbedded } from '../../database/move/embedded-end.ts';
import { READING, WRITING } from '../../database/move/end.ts';
import type { MoveReport } from '../../database/move/move.ts';
import { moveRows } from '../../database/move/move.ts';
import { onPostgres } from '../../database/move/postgres-end.ts';
import { holdNodes, requireFit } from '../../database/move/refusals.ts';
import { endAllNodes } from '../../database/nodes/beats.ts';
import type { DatabaseAddress } from '../../database/sql.ts';
import type { Store } from '../../database/store.ts';
import { openEmbedded, openPostgres } from '../../database/store.ts';
import { releaseAllLeases } from '../../push/sql/ledger/release-all-leases.ts';
import { SettingFault } from '../../std/setting-fault.ts';
import type { Config } from '../config.ts';
import { holdDataDir } from '../hold-data-dir.ts';
import { requireOwner } from '../require-owner.ts';

const TO = '--to';
const DATABASE_FORM = /^postgres(?:ql)?:/i;
/** Taken for a directory, a misspelt one would be made on disk, with its password as a name. */
const URL_FORM = /^\s*[\w+.-]+:\/\//;

/**
 * `to`: the URL of a PostgreSQL, for the embedded database; or a directory, for the database of
 * DATABASE_URL. Throws a SettingFault, or a UsageError: then the target is as empty as before.
 */
export function moveStore(to: string, config: Config, report: MoveReport): Promise<MovedTo> {
  if (DATABASE_FORM.test(to)) return moveToPostgres(to, config, report);
  if (URL_FORM.test(to)) return Promise.reject(new UsageError(NO_PLACE));
  return moveToDirectory(resolve(to), config, report);
}

const NO_PLACE =
  '--to: it is a URL, but none of a PostgreSQL: name one as postgres://user:password@host/database, or a directory.';
const ALREADY_THERE =
  'DATABASE_URL: it is set, so the store is in a PostgreSQL already: unset it to move the embedded database of DATA_DIR. From one PostgreSQL to another, pg_dump brings everything.';
const NO_SOURCE =
  '--to: it is a directory, and DATABASE_URL, from which it would be filled, is not set. A data directory is copied with cp -a, while its engine is stopped; a PostgreSQL is named as postgres://user:password@host/database.';

async function moveToPostgres(
  url: string,
  { DATABASE_URL, DATA_DIR, SECRET_KEY, EMBEDDED_FSYNC: fsync }: Config,
  report: MoveReport,
): Promise<MovedTo> {
  if (DATABASE_URL !== undefined) throw new SettingFault(ALREADY_THERE);
  const read = readDatabaseUrl(url);
  if (!read.ok) throw new UsageError(`${TO}: ${read.fault}.`);
  if (!holdsDatabase(DATA_DIR)) {
    throw new SettingFault(`DATA_DIR: there is no embedded database in ${DATA_DIR}.`);
  }
  requireOwner(DATA_DIR);
  const release = await holdDataDir(DATA_DIR, (socket) => socket.destroy());
  try {
    const explain = (error: unknown) => (isOfDatabase(error) ? databaseFault(url, error) : null);
    const moved = await withFaultsOf('DATABASE_URL', explain, async () => {
      const address = await reach(url);
      await onPostgres({ address, setting: TO, mode: READING }, requireFit);
      await migrated(openPostgres(url));
      return fillPostgres({ dataDir: DATA_DIR, fsync }, address, report);
    });
    const keyPath = secretKeyPath(DATA_DIR);
    const isInFile = SECRET_KEY === undefined && existsSync(keyPath);
    return {
      ...moved,
      kind: 'postgres',
      place: describePlace(url),
      dataDir: DATA_DIR,
      secretKeyPath: isInFile ? keyPath : null,
    };
  } finally {
    await release();
  }
}

/** An embedded database. */
interface Directory {
  readonly dataDir: string;
  readonly fsync: boolean;
}

/** No process is at work on either end, so what one has held is free at once. */
const fillPostgres = (directory: Directory, address: DatabaseAddress, report: MoveReport) =>
  onEmbedded({ ...directory, setting: 'DATA_DIR', mode: READING }, (source) =>
    onPostgres({ address, setting: TO, mode: WRITING }, async (target, tx) => {
      const moved = await moveRows(source, target, report);
      await releaseAllLeases(tx);
      await endAllNodes(tx);
      report.step('commit');
      return moved;
    }),
  );

/** Makes the tables, where there are none, and brings older ones up to date. */
async function migrated(opening: Promise<Store>): Promise<void> {
  const store = await opening;
  await store.close();
}

/** Whatever keeps it from being reached is said in a sentence. */
async function reach(url: string): Promise<DatabaseAddress> {
  try {
    return await findAddress(url);
  } catch (error) {
    throw error instanceof SettingFault ? error : databaseFault(url, error);
  }
}

async function moveToDirectory(
  dataDir: string,
  { DATABASE_URL, SECRET_KEY, SECRET_KEY_OTHER, EMBEDDED_FSYNC: fsync }: Config,
  report: MoveReport,
): Promise<MovedTo> {
  if (DATABASE_URL === undefined || SECRET_KEY === undefined) throw new SettingFault(NO_SOURCE);
  const explain = (error: unknown) =>
    isOfDatabase(error) ? databaseFault(DATABASE_URL, error) : dataDirFault(dataDir, error);
  return await withFaultsOf('DATA_DIR', explain, async () => {
    requireOwner(dataDir);
    const address = await reach(DATABASE_URL);
    const release = await holdDataDir(dataDir, (socket) => socket.destroy());
    try {
      const directory = { dataDir, fsync, secretKey: SECRET_KEY };
      if (holdsDatabase(dataDir)) {
        await onEmbedded({ ...directory, setting: TO, mode: READING }, requireFit);
      }
      await migrated(openEmbedded(dataDir, { fsync }));
      const secrets = createSecrets(SECRET_KEY, SECRET_KEY_OTHER);
      const moved = await fillDirectory(address, secrets, directory, report);
      return { ...moved, kind: 'directory', dataDir };
    } finally {
      await release();
    }
  });
}

const fillDirectory = (
  address: DatabaseAddress,
  secrets: Secrets,
  { dataDir, fsync, secretKey }: Directory & { readonly secretKey: string },
  report: MoveReport,
) =>
  onPostgres({ address, setting: 'DATABASE_URL', mode: READING }, async (source, tx) => {
    await holdNodes(source);
    // With another key beside it, no engine would start on the copy.
    const fault = await secretKeyFault(tx, secrets);
    if (fault !== null) throw new SettingFault(fault);
    return onEmbedded({ dataDir, fsync, setting: TO, mode: WRITING }, async (target) => {
      const moved = await moveRows(source, target, report);
      if (!(await keepSecretKey(dataDir, secretKey))) {
        throw new SettingFault(`${TO}: ${secretKeyPath(dataDir)} is not SECRET_KEY: remove it.`);
      }
      report.step('commit');
      return moved;
    });
  });

/** The target has the faults that it would have as a setting, and `--to` names it. */
async function withFaultsOf<Result>(
  setting: 'DATABASE_URL' | 'DATA_DIR',
  explain: (error: unknown) => SettingFault | null,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const fault = error instanceof SettingFault ? error : explain(error);
    if (fault === null) throw error;
    const message = fault.message.replace(new RegExp(`^${setting}\\b`), TO);
    throw new SettingFault(message, { cause: error });
  }
}
