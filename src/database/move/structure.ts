/** The structure of a database at an end of a move: tables, sequences, keys between tables. */

import { SettingFault } from '../../std/setting-fault.ts';
import { SCHEMA } from '../schema.ts';
import type { End } from './end.ts';

interface Column {
  readonly name: string;
  readonly type: string;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The size of its file, as it is now. */
  readonly pages: number;
  /** The part that these are of all its pages: large values lie in others (TOAST). */
  readonly share: number;
}

/** A name in a statement. None of the schema has a quotation mark. */
export const quotedName = (name: string): string => `"${name}"`;

export const columnsOf = ({ columns }: Table): string =>
  columns.map(({ name }) => quotedName(name)).join(', ');

/** A database has its migrations from its own start. */
const OWN_TABLE = 'migrations';

/** The tables of a database, apart from those of an extension. */
export const TABLES = `(
  select * from pg_class
  where relkind in ('r', 'p', 'f') and relnamespace = current_schema()::regnamespace
    and not exists (
      select from pg_depend
      where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')) as c`;

/** All tables with rows that are moved; the columns in the order of their names. */
const listTables = (end: End): Promise<readonly Table[]> =>
  end.read(`
    select c.relname as name, pg_relation_size(c.oid) / current_setting('block_size')::integer as pages,
      pg_relation_size(c.oid)::float8 / greatest(pg_table_size(c.oid), 1) as share,
      json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod))
        order by a.attname) as columns
    from ${TABLES} join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relname <> '${OWN_TABLE}'
    group by c.oid, c.relname order by c.relname`);

/**
 * The target's tables, as the source has them. A column may stand at another place there: it may
 * have been added later. Throws a SettingFault when one of them is not the same.
 */
export async function commonTables(source: End, target: End): Promise<readonly Table[]> {
  await requireSameSchema(source, target);
  const [known, wanted] = await Promise.all([listTables(source), listTables(target)]);
  requireNoOther(source, known, wanted);
  requireNoOther(target, wanted, known);
  return wanted.map(({ name, columns }) => {
    const found = known.find((table) => table.name === name);
    if (found !== undefined && textOf(found.columns) === textOf(columns)) return found;
    throw new SettingFault(
      `${source.setting}: its table ${name} is not as this version makes it: move with the version that runs on it.`,
    );
  });
}

/** A table that only the source has would be lost; one that only the target has is not ours. */
function requireNoOther(end: End, tables: readonly Table[], others: readonly Table[]): void {
  const names = new Set(others.map(({ name }) => name));
  const alone = tables.find(({ name }) => !names.has(name));
  if (alone === undefined) return;
  throw new SettingFault(
    `${end.setting}: its table ${alone.name} is not at the other end, and is not moved: take it into another schema first (alter table … set schema).`,
  );
}

const textOf = (columns: readonly Column[]): string =>
  columns.map(({ name, type }) => `${name} ${type}`).join(', ');

async function requireSameSchema(source: End, target: End): Promise<void> {
  const [has, wanted] = await Promise.all([source, target].map(namesOfMigrations));
  if (has !== undefined && has === wanted) return;
  throw new SettingFault(
    `${source.setting}: its schema is another one (${has ?? 'none'}; this version has ${wanted}): start an engine of this version on it, stop it, and move then.`,
  );
}

/** Those from the schema on: earlier ones are parts of it. Undefined: it has no such table. */
export async function namesOfMigrations(end: End): Promise<string | undefined> {
  const there = await end.read(`select 1 from pg_tables
    where schemaname = current_schema() and tablename = '${OWN_TABLE}'`);
  if (there.length === 0) return undefined;
  // Read through JSON: the table of another application may have no names.
  const applied = await end.read<{ readonly name: string }>(`
    select name from (select to_jsonb(m) ->> 'name' as name from ${OWN_TABLE} m) as known
    where name >= '${SCHEMA}' order by name collate "C"`);
  return applied.map(({ name }) => name).join(', ');
}

interface Sequence {
  readonly name: string;
  /** The column that it numbers; of a sequence that stands alone, its name. */
  readonly subject: string;
}

const listSequences = (end: End): Promise<readonly Sequence[]> =>
  end.read(`
    select s.relname as name, coalesce(t.relname || '.' || a.attname, s.relname) as subject
    from pg_class s
    left join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid
      and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i')
    left join pg_class t on t.oid = d.refobjid
    left join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where s.relkind = 'S' and s.relnamespace = current_schema()::regnamespace`);

/** Makes the target's sequences go on where those of the source are, whatever their names. */
export async function moveSequences(source: End, target: End): Promise<void> {
  const [known, wanted] = await Promise.all([listSequences(source), listSequences(target)]);
  for (const { name, subject } of wanted) {
    const same = known.find((sequence) => sequence.subject === subject);
    if (same === undefined) throw new Error(`the source has no sequence of ${subject}`);
    const [state] = await source.read<{ readonly next: string }>(`
      select (case when is_called then last_value + 1 else last_value end)::text as next
      from ${quotedName(same.name)}`);
    if (state === undefined) throw new Error(`the sequence of ${subject} has no row`);
    // Unlike setval, it is rolled back.
    await target.run(`alter sequence ${quotedName(name)} restart with ${state.next}`);
  }
}

/**
 * Runs `fill` on tables without triggers and without foreign keys, so that rows may come in any
 * order, and raise no revision. Each key is checked once for all rows, when it is made again.
 */
export async function withoutTriggers(
  target: End,
  tables: readonly Table[],
  fill: () => Promise<void>,
): Promise<void> {
  const keys = await target.read<{
    readonly table: string;
    readonly name: string;
    readonly definition: string;
  }>(`
    select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`);
  const ofEach = (change: string): string =>
    tables.map(({ name }) => `alter table ${quotedName(name)} ${change} trigger user;`).join('\n');
  const drops = keys.map(
    ({ table, name }) => `alter table ${table} drop constraint ${quotedName(name)};`,
  );
  await target.run([...drops, ofEach('disable')].join('\n'));
  await fill();
  const additions = keys.map(
    ({ table, name, definition }) =>
      `alter table ${table} add constraint ${quotedName(name)} ${definition};`,
  );
  await target.run([...additions, ofEach('enable')].join('\n'));
}
