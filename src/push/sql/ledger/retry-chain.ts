/** The chain of a job: the one that was sent first, and its retries (decision 75). */

import type { Sql } from '../../../database/sql.ts';

/** The ids of those that are there. `first`: the job that was sent first. */
export async function chainOf(sql: Sql, first: string): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from notifications where id = ${first}::uuid or retries = ${first}::uuid`;
  return rows.map(({ id }) => id);
}

/** Whether a retry `r` is under way, and may still send. */
const maySend = (sql: Sql) => sql`r.finished_at is null and r.retries_until > now()`;

/** Whether such a retry leaves out the reach of `n`. */
export const isNeededByRetry = (sql: Sql) => sql`
  exists (
    select from notifications r where r.retries = coalesce(n.retries, n.id) and ${maySend(sql)}
  )`;

/** When the first send of the chains of such retries began. Null: there are none. */
export const firstSendRetried = (sql: Sql) => sql`
  (
    select min(coalesce(n.first_send_at, n.finished_at)) from notifications r
    join notifications n on n.id = r.retries or n.retries = r.retries
    where r.retries is not null and ${maySend(sql)}
  )`;

/**
 * When the push `n` ends. A retry whose reach may go has ended then, whatever it was to do: paused
 * for so long, it sends nothing any more.
 */
export const endOf = (sql: Sql) => sql`
  case when n.retries_until <= now() then least(n.expires_at, n.retries_until) else n.expires_at end`;
