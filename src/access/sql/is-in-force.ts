/** Whether a credential of a client's super user is the one in force: it has no end. */

import type { Sql } from '../../database/sql.ts';

export async function isInForce(sql: Sql, clientId: number, username: string): Promise<boolean> {
  const rows = await sql`
    select from credentials
    where client_id = ${clientId} and app_id is null and username = ${username} and expires_at is null`;
  return rows.length > 0;
}
