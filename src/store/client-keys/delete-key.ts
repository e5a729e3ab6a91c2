/** Deletes a further key for good. Answers its name; null: the client has no such key. */

import type { Sql } from '../sql.ts';

export async function deleteKey(sql: Sql, clientId: number, id: number): Promise<string | null> {
  const [row] = await sql<{ name: string }[]>`
    delete from client_keys where id = ${id} and client_id = ${clientId} returning name`;
  return row?.name ?? null;
}
