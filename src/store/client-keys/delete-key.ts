/** Deletes a further key for good. Answers whether the client had it. */

import type { Sql } from '../sql.ts';

export async function deleteKey(sql: Sql, clientId: number, id: number): Promise<boolean> {
  const rows = await sql`
    delete from client_keys where id = ${id} and client_id = ${clientId} returning 1`;
  return rows.length > 0;
}
