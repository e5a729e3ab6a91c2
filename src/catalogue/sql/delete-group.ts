/** Deletes a group without tags and groups; answers whether it did. Under the client's lock. */

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
