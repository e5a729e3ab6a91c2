/** Gives out ids of tags, groups and apps before these are made, so rows can name each other. */

import { ID_MAX } from '../domain/tag.ts';
import type { Sql } from './sql.ts';

/**
 * All clients share one sequence, and no id is given out twice: two hundred can use all of theirs.
 * @limit tags, groups and apps that a client makes in its life, deleted ones included → `400`
 */
const OBJECT_IDS_PER_CLIENT_MAX = 10_000_000;

/** The message to a caller that wants more. */
export const OBJECT_IDS_USED_UP = `would be more than the ${OBJECT_IDS_PER_CLIENT_MAX} tags, groups and apps that a client may make in its life`;

/** Gives ids out for good: call it when they are needed. Null: the client has used up its own. */
export async function nextObjectIds(
  sql: Sql,
  clientId: number,
  count: number,
): Promise<readonly number[] | null> {
  if (count === 0) return [];
  const [client] = await sql`
    update clients set object_ids_drawn = object_ids_drawn + ${count}::integer
    where id = ${clientId} and object_ids_drawn + ${count}::integer <= ${OBJECT_IDS_PER_CLIENT_MAX}
    returning id`;
  if (client === undefined) return null;
  const rows = await sql<{ id: number }[]>`
    select nextval('object_ids')::integer as id from generate_series(1, ${count}::integer)`;
  return rows.map((row) => row.id);
}

/** The share of all ids that is given out: at 1 no tag, group or app can be made. */
export async function objectIdsUsedShare(sql: Sql): Promise<number> {
  const [row] = await sql<{ last: number }[]>`select last_value::float8 as last from object_ids`;
  return (row?.last ?? 0) / ID_MAX;
}
