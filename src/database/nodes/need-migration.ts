/**
 * From the first use of a migration on, nodes must know it: they could not do what is asked then.
 * Those of the version before go on until then (left-behind.ts has the migrations that end them at
 * once).
 */

import type { Sql } from '../sql.ts';
import { AT_WORK, nodesInWords } from './at-work.ts';

/** Nodes at work that do not know the migration, in words; null: none, and none starts later. */
export async function needMigration(sql: Sql, name: string): Promise<string | null> {
  const [row] = await sql<{ behind: readonly { readonly host: string; readonly pid: number }[] }[]>`
    with behind as (
      select id, host, pid from nodes
      where ${sql.unsafe(AT_WORK)} and (newest_migration is null or newest_migration < ${name})
    ),
    needed as (
      update migrations set needs = name
      where name = ${name} and needs is null and not exists (select from behind)
    )
    select coalesce(json_agg(json_build_object('host', host, 'pid', pid) order by id), '[]') as behind
    from behind`;
  const behind = row?.behind ?? [];
  return behind.length === 0 ? null : nodesInWords(behind);
}
