/** Writes whole groups in one statement: parents may come with children, in any order. */

import { integer, rowsOf, text } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import type { TagGroup } from '../../domain/tag.ts';

export async function insertTagGroups(
  sql: Sql,
  clientId: number,
  groups: readonly TagGroup[],
): Promise<void> {
  if (groups.length === 0) return;
  await sql`
    insert into tag_groups (id, client_id, name, source_id, parent_id)
    select id, ${clientId}::integer, name, source_id, parent_id from ${given(sql, groups)}`;
}

export async function updateTagGroups(
  sql: Sql,
  clientId: number,
  groups: readonly TagGroup[],
): Promise<void> {
  if (groups.length === 0) return;
  await sql`
    update tag_groups set name = given.name, source_id = given.source_id, parent_id = given.parent_id
    from ${given(sql, groups)}
    where tag_groups.id = given.id and tag_groups.client_id = ${clientId}`;
}

const given = rowsOf<TagGroup>('given', {
  id: integer((group) => group.id),
  name: text((group) => group.name),
  source_id: text((group) => group.sourceId),
  parent_id: integer((group) => group.parentId),
});
