/** Makes a migrated database as it was before a test. */

import type { Sql } from '../../src/store/sql.ts';
import { againAfterDeadlock } from '../../src/store/transact.ts';

/** They have their one row for ever; what a node reads of it is compared, not counted. */
const OF_ONE_ROW = ['access_revision', 'session_revision'];
const KEPT = ['migrations', ...OF_ONE_ROW];

/** The tables that have rows. */
export async function filledTables(sql: Sql): Promise<readonly string[]> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' and tablename <> all (${KEPT})
    order by tablename`;
  const looks = tables.map(
    ({ name }) => `select '${name}' as name where exists (select from "${name}")`,
  );
  const filled = await sql.unsafe<{ name: string }[]>(looks.join(' union all '));
  return filled.map(({ name }) => name);
}

/** Deletes all rows; numbers begin at 1 again. */
export async function emptyDatabase(sql: Sql): Promise<void> {
  const filled = await filledTables(sql);
  const names = filled.map((name) => `"${name}"`).join(', ');
  if (filled.length > 0) {
    // What the test before has begun in the background may still read.
    await againAfterDeadlock(() => sql.unsafe(`truncate ${names} cascade`));
  }
  await sql`
    select setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
    from pg_sequences where last_value is not null`;
}
