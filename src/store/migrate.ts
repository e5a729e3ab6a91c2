/** Brings the schema up to date: every migration once, in order, all or none. */

import { faultOf } from './faults.ts';
import * as mainJob from './migrations/0001-main-job.ts';
import * as reactions from './migrations/0002-reactions.ts';
import * as providerAuthority from './migrations/0003-provider-authority.ts';
import * as parts from './migrations/0004-parts.ts';
import * as indexLineage from './migrations/0006-index-lineage.ts';
import type { SqlPool } from './sql.ts';

interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** In order. One that has landed is never edited: a change is a new file. */
const MIGRATIONS: readonly Migration[] = [
  mainJob,
  reactions,
  providerAuthority,
  parts,
  indexLineage,
];

/** Any number that nothing else locks. Nodes that start together take turns on it; the later ones find nothing to do. */
const MIGRATION_LOCK = 7_461_671;

/** Nodes of the version before are at work meanwhile, and a table's lock may end in a deadlock with theirs. */
const TRIES_MAX = 5;

/** Applies what is missing, all in one transaction; again, whole, after a deadlock. Resolves with the names of what it applied. */
export async function migrate(sql: SqlPool): Promise<readonly string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrateOnce(sql);
    } catch (error) {
      if (attempt === TRIES_MAX || faultOf(error) !== 'conflict') throw error;
    }
  }
}

function migrateOnce(sql: SqlPool): Promise<readonly string[]> {
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
    await tx`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
    const known = new Set((await tx`select name from migrations`).map((row) => row['name']));
    const missing = MIGRATIONS.filter(({ name }) => !known.has(name));
    for (const migration of missing) {
      await tx.unsafe(migration.sql);
      await tx`insert into migrations (name) values (${migration.name})`;
    }
    return missing.map(({ name }) => name);
  });
}
