/**
 * Brings the schema up to date: every migration once, in order, all or none. Nodes of the previous
 * version run during and after it, so a migration adds and does not remove
 * (docs/operate/upgrade.md, test/support/migration-rule.ts).
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { SettingFault } from '../std/setting-fault.ts';

import * as mainJob from './migrations/0001-main-job.ts';
import * as reactions from './migrations/0002-reactions.ts';
import * as providerAuthority from './migrations/0003-provider-authority.ts';
import * as parts from './migrations/0004-parts.ts';
import * as operating from './migrations/0005-operating.ts';
import * as indexLineage from './migrations/0006-index-lineage.ts';
import * as vacantGroups from './migrations/0007-vacant-groups.ts';
import * as nodes from './migrations/0008-nodes.ts';
import * as writeProbe from './migrations/0009-write-probe.ts';
import * as parkedParts from './migrations/0010-parked-parts.ts';
import * as objectIdBudget from './migrations/0011-object-id-budget.ts';
import * as oneRowPerDevice from './migrations/0012-one-row-per-device.ts';
import * as access from './migrations/0013-access.ts';
import * as dueLines from './migrations/0014-due-lines.ts';
import * as listsById from './migrations/0015-lists-by-id.ts';
import * as statistics from './migrations/0016-statistics.ts';
import * as audienceExpressions from './migrations/0017-audience-expressions.ts';
import * as apps from './migrations/0018-apps.ts';
import * as priorities from './migrations/0019-priorities.ts';
import * as rates from './migrations/0020-rates.ts';
import * as bulkOperations from './migrations/0021-bulk-operations.ts';
import * as clientLimits from './migrations/0022-client-limits.ts';
import * as audit from './migrations/0023-audit.ts';
import * as accounts from './migrations/0025-accounts.ts';
import * as deviceEvents from './migrations/0026-device-events.ts';
import * as openJobs from './migrations/0027-open-jobs.ts';
import * as expiredTags from './migrations/0028-expired-tags.ts';
import * as sessionRevision from './migrations/0029-session-revision.ts';
import * as estimatedTotals from './migrations/0030-estimated-totals.ts';
import * as webhooks from './migrations/0031-webhooks.ts';
import * as templates from './migrations/0033-templates.ts';
import * as goneReceivers from './migrations/0034-gone-receivers.ts';
import * as auditRepetitions from './migrations/0036-audit-repetitions.ts';
import * as begunCounts from './migrations/0038-begun-counts.ts';
import * as clockWatch from './migrations/0039-clock-watch.ts';
import type { Sql, SqlPool } from './sql.ts';
import { againAfterDeadlock } from './transact.ts';

export interface Migration {
  readonly name: string;
  readonly sql: string;
  /**
   * The newest migration that a node must know to work after this one. Set by a migration that
   * removes something which no version since the named one has used. Absent: nodes that worked
   * before still work.
   */
  readonly needs?: string;
}

/** In order. A migration that has landed is never edited: a change is a new file. */
export const MIGRATIONS: readonly Migration[] = [
  mainJob,
  reactions,
  providerAuthority,
  parts,
  operating,
  indexLineage,
  vacantGroups,
  nodes,
  writeProbe,
  parkedParts,
  objectIdBudget,
  oneRowPerDevice,
  access,
  dueLines,
  listsById,
  statistics,
  audienceExpressions,
  apps,
  priorities,
  rates,
  bulkOperations,
  clientLimits,
  audit,
  accounts,
  deviceEvents,
  openJobs,
  expiredTags,
  sessionRevision,
  estimatedTotals,
  webhooks,
  templates,
  goneReceivers,
  auditRepetitions,
  begunCounts,
  clockWatch,
];

export interface Migrated {
  /** Names of the migrations that were missing. */
  readonly applied: readonly string[];
  /** Names of migrations of a later version, with which this version can work. */
  readonly ahead: readonly string[];
}

interface MigrateOptions {
  readonly migrations?: readonly Migration[];
  /** Called each time a lock was not available. */
  readonly onWaiting?: () => void;
  readonly patienceMs?: number;
}

/**
 * Any number that no other lock uses. Nodes that start together take turns on it; the later ones
 * find nothing to do.
 */
const MIGRATION_LOCK = 7_461_671;

/**
 * A statement that waits for a table's lock blocks every later statement on that table: it gives up
 * after this time, and lets them go first.
 */
const LOCK_MS_MAX = 2_000;
const LOCK_PAUSE_MS = 3_000;
/**
 * Dumps and long transactions lock tables for long. After this time the start fails, and the
 * supervisor of the process has to repeat it.
 */
const PATIENCE_MS = 300_000;

/**
 * Applies the missing migrations, all in one transaction; repeats all of it after a deadlock, or
 * while a table is locked.
 */
export async function migrate(sql: SqlPool, options: MigrateOptions = {}): Promise<Migrated> {
  const { migrations = MIGRATIONS, onWaiting, patienceMs = PATIENCE_MS } = options;
  const endMs = performance.now() + patienceMs;
  for (;;) {
    try {
      // Nodes of the previous version are at work, and a lock on a table may deadlock with theirs.
      return await againAfterDeadlock(() => sql.begin((tx) => migrateOnce(tx, migrations)));
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      if (performance.now() > endMs) throw new SettingFault(LOCKED, { cause: error });
      onWaiting?.();
      await sleep(LOCK_PAUSE_MS);
    }
  }
}

/** Which migrations are missing, without applying them; `all`: the database is empty. */
export async function readMigrations(
  sql: Sql,
): Promise<{ readonly missing: readonly string[] | 'all'; readonly ahead: readonly string[] }> {
  const [row] = await sql<{ isThere: boolean }[]>`
    select to_regclass('migrations') is not null as "isThere"`;
  if (row?.isThere !== true) return { missing: 'all', ahead: [] };
  const present = await sql<{ name: string }[]>`select name from migrations order by name`;
  const applied = new Set(present.map(({ name }) => name));
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  return {
    missing: MIGRATIONS.flatMap(({ name }) => (applied.has(name) ? [] : [name])),
    ahead: [...applied].filter((name) => !known.has(name)),
  };
}

const LOCKED =
  'DATABASE_URL: the schema cannot be brought up to date: something else holds a lock on its tables, as a dump or a transaction that is left open does (pg_locks tells which). Start again when it has ended.';

async function migrateOnce(tx: Sql, migrations: readonly Migration[]): Promise<Migrated> {
  await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
  await tx`select set_config('lock_timeout', ${String(LOCK_MS_MAX)}, true)`;
  await tx`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
  // Read through JSON: databases of the first versions do not have the column.
  const present = await tx<{ name: string; needs: string | null }[]>`
    select name, to_jsonb(m) ->> 'needs' as needs from migrations m order by name`;
  const known = new Set(migrations.map(({ name }) => name));
  const ahead = present.filter(({ name }) => !known.has(name));
  for (const { name, needs } of ahead) {
    if (needs !== null && !known.has(needs)) throw new SettingFault(tooNew(name, needs));
  }
  const applied = migrations.filter(({ name }) => present.every((row) => row.name !== name));
  for (const { name, needs, sql } of applied) {
    await tx.unsafe(sql);
    await tx`insert into migrations ${tx(needs === undefined ? { name } : { name, needs })}`;
  }
  return { applied: applied.map(({ name }) => name), ahead: ahead.map(({ name }) => name) };
}

const tooNew = (name: string, needs: string): string =>
  `DATABASE_URL: a later version has changed this database (${name}), and this version cannot work on it any more: install one that knows ${needs}, best the one that the other nodes run.`;

/** SQLSTATE lock_not_available. */
const isLockTimeout = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '55P03';
