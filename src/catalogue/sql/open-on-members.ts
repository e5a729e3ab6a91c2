/** The bulk operations that a tag has to wait for before it is deleted. */

import type { Sql } from '../../database/sql.ts';

/** The first one that has not ended of those that still need to know who has the tag. */
export async function findOpenOnMembers(
  sql: Sql,
  clientId: number,
  tagId: number,
): Promise<number | null> {
  const [row] = await sql<{ id: number | null }[]>`
    select min(id) as id from bulk_operations
    where client_id = ${clientId} and ended_at is null and member_of = ${tagId}`;
  return row?.id ?? null;
}
