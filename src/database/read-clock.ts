/** Reads the database's clock, by which every node stamps rows. */

import type { Sql } from './sql.ts';

/** In epoch milliseconds. */
export async function readClock(sql: Sql): Promise<number> {
  const [row] = await sql<{ nowMs: number }[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`;
  if (row === undefined) throw new Error('The database did not return the time');
  return row.nowMs;
}
