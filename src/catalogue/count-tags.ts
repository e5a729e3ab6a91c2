/** Counts the tags of a client, without deleted ones. */

import type { Sql } from '../database/sql.ts';

export async function countTags(sql: Sql, clientId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from tags where client_id = ${clientId} and deleted_at is null`;
  return row?.count ?? 0;
}
