/** Ids for tags, groups and apps that are not made yet: given out before, so that rows can name each other in one statement. */

import type { Sql } from './sql.ts';

export async function nextObjectIds(sql: Sql, count: number): Promise<readonly number[]> {
  if (count === 0) return [];
  const rows = await sql<{ id: number }[]>`
    select nextval('object_ids')::integer as id from generate_series(1, ${count}::integer)`;
  return rows.map((row) => row.id);
}
