/** Makes a migrated database as it was before a test. */

import { SCHEMA } from '../../src/database/schema.ts';
import type { Sql } from '../../src/database/sql.ts';
import { againAfterDeadlock } from '../../src/database/transact.ts';

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

/**
 * Deletes all rows, and no migration is needed any more because it was used. Numbers go on: no test
 * meets an id that another one has had.
 */
export async function emptyDatabase(sql: Sql): Promise<void> {
  const filled = await filledTables(sql);
  const names = filled.map((name) => `"${name}"`).join(', ');
  if (filled.length > 0) {
    // Work that the test before has begun in the background may still read.
    await againAfterDeadlock(() => sql.unsafe(`truncate ${names} cascade`));
  }
  // `needMigration` wrote it at the first use.
  await sql`update migrations set needs = null where needs = name and name <> ${SCHEMA}`;
  // Maintenance looks at what has changed in a table.
  await sql`select pg_stat_reset()`;
}

/**
 * Another one whenever the schema has changed, by a migration, a trigger or a setting of a table,
 * or when a table was analyzed: its statistics would lead the plans of the next test.
 */
export async function schemaMark(sql: Sql): Promise<string> {
  const [row] = await sql<{ mark: string }[]>`
    select md5(string_agg(part, ' ' order by part)) as mark from (
      select format('%s %s %s', relname, relkind, reloptions) from pg_class
      where relnamespace = 'public'::regnamespace and relkind <> 't'
      union all select format('%s %s %s', tgname, tgrelid::regclass, tgenabled) from pg_trigger where not tgisinternal
      union all select format('migrated %s %s', name, needs) from migrations
      union all select format('%s %s', proname, md5(prosrc)) from pg_proc where pronamespace = 'public'::regnamespace
      union all select format('%s %s', setdatabase, setconfig) from pg_db_role_setting
      union all select distinct format('analyzed %s', starelid) from pg_statistic
      where starelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)
    ) as parts (part)`;
  return row?.mark ?? '';
}
