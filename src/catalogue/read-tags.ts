/** Reads live tags of a client, expired ones too: by sourceIds, or one by its id. */

import type { Sql } from '../database/sql.ts';
import { textList } from '../database/sql.ts';
import type { Tag } from '../domain/tag.ts';

export const readTagsBySourceIds = (
  sql: Sql,
  clientId: number,
  sourceIds: readonly string[],
): Promise<readonly Tag[]> =>
  sql<Tag[]>`
    select ${columns(sql)} from tags
    where client_id = ${clientId} and source_id = any(${textList(sourceIds)}::text[])
      and deleted_at is null`;

export async function readTagBySourceId(
  sql: Sql,
  clientId: number,
  sourceId: string,
): Promise<Tag | null> {
  const [tag] = await readTagsBySourceIds(sql, clientId, [sourceId]);
  return tag ?? null;
}

export async function readTagById(sql: Sql, clientId: number, id: number): Promise<Tag | null> {
  const [tag] = await sql<Tag[]>`
    select ${columns(sql)} from tags
    where client_id = ${clientId} and id = ${id} and deleted_at is null`;
  return tag ?? null;
}

const columns = (sql: Sql) => sql`
  id, client_id as "clientId", name, source_id as "sourceId", group_id as "groupId",
  optional_parameters as "optionalParameters", expires_at_ms as "expiresAtMs", app_ids as "appIds"`;
