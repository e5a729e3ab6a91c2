/** Reads all groups of a client, to check paths, the depth and cycles of the tree. */

import type { Sql } from '../database/sql.ts';
import type { TagGroup } from '../domain/tag.ts';

export const readTagGroups = (sql: Sql, clientId: number): Promise<readonly TagGroup[]> =>
  sql<TagGroup[]>`
    select id, client_id as "clientId", name, source_id as "sourceId", parent_id as "parentId"
    from tag_groups
    where client_id = ${clientId}`;

export async function readTagGroupSourceId(sql: Sql, groupId: number): Promise<string | null> {
  const [row] = await sql<{ sourceId: string | null }[]>`
    select source_id as "sourceId" from tag_groups where id = ${groupId}`;
  return row?.sourceId ?? null;
}
