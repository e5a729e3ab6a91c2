/** When the next urgent notification is due: the planner waits no longer than that. */

import type { Sql } from '../../../database/sql.ts';

/** Milliseconds from now; null: none is due within `withinMs`. */
export async function nextUrgentInMs(sql: Sql, withinMs: number): Promise<number | null> {
  const [next] = await sql<{ inMs: number }[]>`
    select extract(epoch from send_at - now())::float8 * 1000 as "inMs" from notifications
    where finished_at is null and state = 'SCHEDULED' and urgent
      and send_at > now() and send_at <= now() + ${withinMs}::float8 * interval '1 millisecond'
    order by send_at limit 1`;
  return next?.inMs ?? null;
}
