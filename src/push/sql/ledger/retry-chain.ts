/** The chain of a job: the one that was sent first, and its retries (decision 75). */

import type { Sql } from '../../../database/sql.ts';

/** The ids of those that are there. `first`: the job that was sent first. */
export async function chainOf(sql: Sql, first: string): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from notifications where id = ${first}::uuid or retries = ${first}::uuid`;
  return rows.map(({ id }) => id);
}

/** Whether a retry is under way that leaves out the reach of `n`, and may still send. */
export const isNeededByRetry = (sql: Sql) => sql`
  exists (
    select from notifications r
    where r.retries = coalesce(n.retries, n.id) and r.finished_at is null and r.expires_at > now()
  )`;
