/** Whose push job it is. Null: there is no such job. */

import type { Sql } from '../../../database/sql.ts';

export async function findJobClient(sql: Sql, notificationId: string): Promise<number | null> {
  const [row] = await sql<{ clientId: number }[]>`
    select client_id as "clientId" from notifications where id = ${notificationId}::uuid`;
  return row?.clientId ?? null;
}
