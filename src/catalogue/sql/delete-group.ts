/**
 * Deletes a group if it holds neither tags nor groups; answers whether it did. The caller holds the
 * client's lock.
 */

import type { Sql } from '../../database/sql.ts';

export async function deleteEmptyTagGroup(
  sql: Sql,
  clientId: number,
  id: number,
): Promise<boolean> {
  const rows = await sql`
    delete from tag_groups
    where client_id = ${clientId} and id = ${id}
      and not exists (select from tags where group_id = ${id})
      and not exists (select from tag_groups as child where child.parent_id = ${id})
    returning 1`;
  return rows.length > 0;
}
