/** Which attributes that clients declared are still there. */

import type { Sql } from '../database/sql.ts';
import { list } from '../database/sql.ts';

export async function livingAttributes(
  sql: Sql,
  attributeIds: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await sql<{ id: number }[]>`
    select id from attributes where id = any (${list(attributeIds)}::integer[])`;
  return new Set(rows.map(({ id }) => id));
}
