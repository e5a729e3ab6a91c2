/** Counts the push jobs of a client that have not ended, up to `countMax`. */

import type { Sql } from '../../../database/sql.ts';

export async function countOpen(sql: Sql, clientId: number, countMax: number): Promise<number> {
  // Two parts, since each kind has an index of its own.
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from (
      (
        select from notifications
        where client_id = ${clientId} and finished_at is null and state in ('SCHEDULED', 'QUEUED')
        limit ${countMax}::integer
      )
      union all
      (
        select from notifications
        where client_id = ${clientId} and finished_at is null and state in ('RUNNING', 'PAUSED', 'CANCELLED')
        limit ${countMax}::integer
      )
    ) as counted`;
  return row?.count ?? 0;
}
