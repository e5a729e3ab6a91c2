/**
 * Writes whole groups, many in one statement: parents may come with their children, in any order.
 */

import type { TagGroup } from '../../domain/tag.ts';
import type { Sql } from '../sql.ts';

export async function insertGroups(
  sql: Sql,
  clientId: number,
  groups: readonly TagGroup[],
): Promise<void> {
  if (groups.length === 0) return;
  await sql`
    insert into tag_groups (id, client_id, name, source_id, parent_id)
    select id, ${clientId}::integer, name, source_id, parent_id from ${rowsOf(sql, groups)}`;
}

export async function updateGroups(
  sql: Sql,
  clientId: number,
  groups: readonly TagGroup[],
): Promise<void> {
  if (groups.length === 0) return;
  await sql`
    update tag_groups set name = given.name, source_id = given.source_id, parent_id = given.parent_id
    from ${rowsOf(sql, groups)}
    where tag_groups.id = given.id and tag_groups.client_id = ${clientId}`;
}

const rowsOf = (sql: Sql, groups: readonly TagGroup[]) => sql`
  unnest(
    ${groups.map((group) => group.id)}::integer[],
    ${groups.map((group) => group.name)}::text[],
    ${groups.map((group) => group.sourceId)}::text[],
    ${groups.map((group) => group.parentId)}::integer[]
  ) as given(id, name, source_id, parent_id)`;
