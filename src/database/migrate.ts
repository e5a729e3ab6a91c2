/**
 * Brings the schema up to date: a new database gets schema.sql, and every database the migrations
 * that it lacks, in order, all or none. Nodes of the previous version run during and after it, so a
 * migration adds and does not remove (docs/operate/upgrade.md, test/support/migration-rule.ts).
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { SettingFault } from '../std/setting-fault.ts';
import { isLockTimeout } from './faults.ts';
import * as clientSettings from './migrations/0041-client-settings.ts';
import * as indexOfFaults from './migrations/0042-index-of-faults.ts';
import * as testDevices from './migrations/0043-test-devices.ts';
import * as draftsAndStages from './migrations/0044-drafts-and-stages.ts';
import * as refusedSince from './migrations/0046-refused-since.ts';
import * as newestMigration from './migrations/0047-newest-migration.ts';
import * as attributes from './migrations/0048-attributes.ts';
import * as segments from './migrations/0049-segments.ts';
import * as registeredOn from './migrations/0050-registered-on.ts';
import * as oneIndexOfJobsUnderWay from './migrations/0051-one-index-of-jobs-under-way.ts';
import * as numbers from './migrations/0052-numbers.ts';
import * as reach from './migrations/0053-reach.ts';
import * as retries from './migrations/0054-retries.ts';
import * as corrections from './migrations/0055-corrections.ts';
import * as caps from './migrations/0056-caps.ts';
import * as waves from './migrations/0057-waves.ts';
import { requireNoneLeftBehind } from './nodes/left-behind.ts';
import { LAST_BEFORE_SCHEMA, readSchema, SCHEMA } from './schema.ts';
import type { Sql, SqlPool } from './sql.ts';
import { againAfterDeadlock } from './transact.ts';

export interface Migration {
  readonly name: string;
  readonly sql: string;
  /**
   * The newest migration that a node must know to work after this one, which removes something.
   * Absent: nodes that worked before still work.
   */
  readonly needs?: string;
}

/** In order, each a file in migrations/. None that has landed is edited; nor is schema.sql. */
export const MIGRATIONS: readonly Migration[] = [
  clientSettings,
  indexOfFaults,
  testDevices,
  draftsAndStages,
  refusedSince,
  newestMigration,
  attributes,
  segments,
  registeredOn,
  oneIndexOfJobsUnderWay,
  numbers,
  reach,
  retries,
  corrections,
  caps,
  waves,
];

export interface Migrated {
  /** Names of the migrations that were missing; the schema is the first of a new database. */
  readonly applied: readonly string[];
  /** Names of migrations of a later version, with which this version can work. */
  readonly ahead: readonly string[];
  /** It had no tables. */
  readonly isNew: boolean;
}

export interface MigrateOptions {
  readonly migrations?: readonly Migration[];
  /** Called each time a lock was not available. */
  readonly onWaiting?: () => void;
  readonly patienceMs?: number;
  /** Migrates although nodes at work cannot go on after it. */
  readonly besideOldNodes?: boolean;
}

/** Any number that no other lock uses: nodes that start together take turns on it. */
const MIGRATION_LOCK = 7_461_671;

/**
 * A waiting statement blocks all later ones on that table.
 * @limit a migration waits for a table → it lets others go first
 */
const LOCK_MS_MAX = 2_000;
/** @limit it lets them go first */
const LOCK_PAUSE_MS = 3_000;
/**
 * Dumps and long transactions lock tables for long.
 * @limit it tries in all → the start ends with a sentence; nothing was applied
 */
const PATIENCE_MS = 300_000;

/** Applies the missing ones in one transaction; repeats it after a deadlock, or a table's lock. */
export async function migrate(sql: SqlPool, options: MigrateOptions = {}): Promise<Migrated> {
  const { onWaiting, patienceMs = PATIENCE_MS } = options;
  const endMs = performance.now() + patienceMs;
  for (;;) {
    try {
      // Nodes of the previous version are at work, and a lock on a table may deadlock with theirs.
      return await againAfterDeadlock(() => sql.begin((tx) => migrateOnce(tx, options)));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (performance.now() > endMs) throw new SettingFault(LOCKED, { cause: error });
      onWaiting?.();
      await sleep(LOCK_PAUSE_MS);
    }
  }
}

interface SchemaState {
  readonly isEmpty: boolean;
  readonly missing: readonly string[];
  readonly ahead: readonly string[];
  /** Why this version cannot work on it; null: it can. */
  readonly fault: string | null;
}

/** Compares the database with what this version knows, and changes nothing. */
export async function readSchemaState(
  sql: Sql,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<SchemaState> {
  const names = namesOf(migrations);
  const [there] = await sql`
    select from pg_tables where schemaname = current_schema() and tablename = 'migrations'`;
  if (there === undefined) return { isEmpty: true, missing: names, ahead: [], fault: null };
  // Read through JSON: databases of the first versions do not have the column.
  const present = await sql<Applied[]>`
    select name, to_jsonb(m) ->> 'needs' as needs from migrations m order by name`;
  const applied = new Set(present.map(({ name }) => name));
  const ahead = aheadOf(present, names);
  return {
    isEmpty: false,
    missing: names.filter((name) => !applied.has(name)),
    ahead: ahead.map(({ name }) => name),
    fault: applied.has(SCHEMA) || applied.has(LAST_BEFORE_SCHEMA) ? tooNew(ahead, names) : TOO_OLD,
  };
}

export interface Applied {
  readonly name: string;
  readonly needs: string | null;
}

/** Why this version cannot work on, or any more, what these migrations have made; null: it can. */
export function whyTooNew(present: readonly Applied[]): string | null {
  const names = namesOf(MIGRATIONS);
  return tooNew(aheadOf(present, names), names);
}

const namesOf = (migrations: readonly Migration[]): readonly string[] => [
  SCHEMA,
  ...migrations.map(({ name }) => name),
];

/** Migrations that were applied before SCHEMA are a part of it. */
const aheadOf = (present: readonly Applied[], names: readonly string[]): readonly Applied[] =>
  present.filter(({ name }) => name > SCHEMA && !names.includes(name));

function tooNew(ahead: readonly Applied[], names: readonly string[]): string | null {
  for (const { name, needs } of ahead) {
    if (needs === null || names.includes(needs)) continue;
    return `DATABASE_URL: a later version has changed this database (${name}), and this version cannot work on it any more: install one that knows ${needs}, best the one that the other nodes run.`;
  }
  return null;
}

const TOO_OLD = `DATABASE_URL or DATA_DIR: an early version made this database, and this version cannot bring it up to date (it lacks ${LAST_BEFORE_SCHEMA}): start commit 0ee6da24 of Tagcast on it, leave it running as docs/operate/upgrade.md says, and then start this version; or begin with an empty database (the embedded one: delete DATA_DIR/postgres).`;

const LOCKED =
  'DATABASE_URL: the schema cannot be brought up to date: something else holds a lock on its tables, as a dump or a transaction that is left open does (pg_locks shows which). Start again when it has ended.';

async function migrateOnce(
  tx: Sql,
  { migrations = MIGRATIONS, besideOldNodes = false }: MigrateOptions,
): Promise<Migrated> {
  await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
  await tx`select set_config('lock_timeout', ${String(LOCK_MS_MAX)}, true)`;
  const { isEmpty, missing, ahead, fault } = await readSchemaState(tx, migrations);
  if (fault !== null) throw new SettingFault(fault);
  const coming = migrations.filter(({ name }) => missing.includes(name));
  if (!isEmpty && !besideOldNodes) {
    await requireNoneLeftBehind(
      tx,
      coming.flatMap(({ needs }) => needs ?? []),
    );
  }
  if (missing.includes(SCHEMA)) await applySchema(tx, isEmpty);
  for (const { name, needs, sql } of coming) {
    await tx.unsafe(sql);
    await tx`insert into migrations ${tx(needs === undefined ? { name } : { name, needs })}`;
  }
  return { applied: missing, ahead, isNew: isEmpty };
}

/**
 * Also for tables that earlier migrations made: nodes that know only those go on. A new database
 * needs nodes that know the schema, or they would make its tables again.
 */
async function applySchema(tx: Sql, isEmpty: boolean): Promise<void> {
  if (isEmpty) await tx.unsafe(await readSchema());
  await tx`insert into migrations (name, needs) values (${SCHEMA}, ${isEmpty ? SCHEMA : null})`;
}
