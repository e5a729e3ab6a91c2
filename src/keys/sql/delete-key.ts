/** Deletes a further key for good. Answers its names; null: the client has no such key. */

import type { Sql } from '../../database/sql.ts';

interface DeletedKey {
  readonly name: string;
  readonly userName: string;
}

export async function deleteKey(
  sql: Sql,
  clientId: number,
  id: number,
): Promise<DeletedKey | null> {
  const [row] = await sql<DeletedKey[]>`
    delete from client_keys where id = ${id} and client_id = ${clientId}
    returning name, username as "userName"`;
  return row ?? null;
}
