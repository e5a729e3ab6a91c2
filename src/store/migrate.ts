/** Brings the schema up to date: every migration once, in order, each in a transaction of its own. */

import * as mainJob from './migrations/0001-main-job.ts';
import type { SqlPool } from './sql.ts';

interface Migration {
  readonly name: string;
  readonly sql: string;
}

/** In order. One that has landed is never edited: a change is a new file. */
const MIGRATIONS: readonly Migration[] = [mainJob];

/** Two nodes that start together take turns on this lock row; the second finds nothing left to do. */
export async function migrate(sql: SqlPool): Promise<readonly string[]> {
  await sql`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`;
  const applied: string[] = [];
  for (const migration of MIGRATIONS) {
    const isNew = await sql.begin(async (tx) => {
      await tx`lock table migrations in exclusive mode`;
      const [known] = await tx`select 1 from migrations where name = ${migration.name}`;
      if (known !== undefined) return false;
      await tx.unsafe(migration.sql);
      await tx`insert into migrations (name) values (${migration.name})`;
      return true;
    });
    if (isNew) applied.push(migration.name);
  }
  return applied;
}
