/**
 * Reads what PostgreSQL knows of a schema: a line for each table, column, constraint, index,
 * sequence, function, trigger and comment, sorted. The order of columns is left out.
 */

import type { Sql } from '../../src/database/sql.ts';

export async function readCatalogue(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ line: string }[]>`
    with tables as (
      select c.* from pg_class c
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
    )
    select concat_ws(' ', 'table', t.relname, t.relkind, t.relpersistence, 'replica identity', t.relreplident,
      t.reloptions::text, 'toast', o.reloptions::text) as line
    from tables t left join pg_class o on o.oid = t.reltoastrelid
    union all
    select concat_ws(' ', 'column', t.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then 'not null' end,
      'default ' || pg_get_expr(d.adbin, d.adrelid),
      'identity ' || nullif(a.attidentity::text, ''),
      'generated ' || nullif(a.attgenerated::text, ''),
      case when a.attcollation <> y.typcollation then 'collate ' || a.attcollation::regcollation end,
      case when a.attstorage <> y.typstorage then 'storage ' || a.attstorage::text end,
      'compression ' || nullif(a.attcompression::text, ''),
      'statistics ' || nullif(a.attstattarget, -1),
      a.attoptions::text)
    from tables t
    join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    join pg_type y on y.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
    union all
    -- Those of NOT NULL, which PostgreSQL 18 has, are told with the columns.
    select concat_ws(' ', 'constraint', t.relname, c.conname, pg_get_constraintdef(c.oid))
    from tables t join pg_constraint c on c.conrelid = t.oid where c.contype in ('c', 'f', 'p', 'u', 'x')
    union all
    select concat_ws(' ', 'index', pg_get_indexdef(i.indexrelid),
      case when not (i.indisvalid and i.indisready) then 'not valid' end,
      case when i.indisclustered then 'clustered' end)
    from tables t join pg_index i on i.indrelid = t.oid
    union all
    select concat_ws(' ', 'sequence', c.relname, format_type(s.seqtypid, null), 'start', s.seqstart, 'by', s.seqincrement,
      'from', s.seqmin, 'to', s.seqmax, 'cache', s.seqcache, case when s.seqcycle then 'cycle' end,
      'of ' || (
        select d.refobjid::regclass || '.' || a.attname from pg_depend d
        join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
      ))
    from pg_class c join pg_sequence s on s.seqrelid = c.oid where c.relnamespace = current_schema()::regnamespace
    union all
    select concat_ws(' ', 'function', p.proname, '(' || pg_get_function_arguments(p.oid) || ')',
      'returns', pg_get_function_result(p.oid), 'language', l.lanname, 'volatility', p.provolatile,
      'parallel', p.proparallel, case when p.proisstrict then 'strict' end,
      case when p.prosecdef then 'security definer' end, p.proconfig::text,
      regexp_replace(trim(p.prosrc), '\\s+', ' ', 'g'))
    from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = current_schema()::regnamespace
    union all
    select concat_ws(' ', 'trigger', 'enabled', g.tgenabled, pg_get_triggerdef(g.oid))
    from tables t join pg_trigger g on g.tgrelid = t.oid where not g.tgisinternal
    union all
    select concat_ws(' ', 'type', y.typname, y.typtype) from pg_type y
    where y.typnamespace = current_schema()::regnamespace and y.typelem = 0
      and not exists (select from tables where reltype = y.oid)
    union all
    select concat_ws(' ', 'comment', i.type, i.identity, d.description)
    from pg_description d, pg_identify_object(d.classoid, d.objoid, d.objsubid) i where i.schema = current_schema()
  `;
  return rows.map(({ line }) => line.trim()).toSorted();
}
