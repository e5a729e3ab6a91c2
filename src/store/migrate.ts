/** Brings the schema up to date: every migration once, in order, all or none. */

import * as mainJob from './migrations/0001-main-job.ts';
import * as reactions from './migrations/0002-reactions.ts';
import * as providerAuthority from './migrations/0003-provider-authority.ts';
import * as parts from './migrations/0004-parts.ts';
import type { SqlPool } from './sql.ts';

interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** In order. One that has landed is never edited: a change is a new file. */
const MIGRATIONS: readonly Migration[] = [mainJob, reactions, providerAuthority, parts];

/** Any number that nothing else locks. Nodes that start together take turns on it; the later ones find nothing to do. */
const MIGRATION_LOCK = 7_461_671;

/** Applies what is missing, all in one transaction; resolves with the names of what it applied. */
export function migrate(sql: SqlPool): Promise<readonly string[]> {
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
