/** Writes whole tags, many in one statement: new ones under given ids, known ones replaced. */

import { bigint, integer, integers, json, rowsOf, text } from '../database/rows.ts';
import type { Sql } from '../database/sql.ts';
import type { Tag } from '../domain/tag.ts';

export async function insertTags(sql: Sql, clientId: number, tags: readonly Tag[]): Promise<void> {
  if (tags.length === 0) return;
  await sql`
    insert into tags (id, client_id, name, source_id, group_id, optional_parameters, expires_at_ms, app_ids)
    select id, ${clientId}::integer, name, source_id, group_id, optional_parameters, expires_at_ms, app_ids
    from ${given(sql, tags)}`;
}

export async function updateTags(sql: Sql, clientId: number, tags: readonly Tag[]): Promise<void> {
  if (tags.length === 0) return;
  await sql`
    update tags set
      name = given.name,
      source_id = given.source_id,
      group_id = given.group_id,
      optional_parameters = given.optional_parameters,
      expires_at_ms = given.expires_at_ms,
      app_ids = given.app_ids
    from ${given(sql, tags)}
    where tags.id = given.id and tags.client_id = ${clientId}`;
}

const given = rowsOf<Tag>('given', {
  id: integer((tag) => tag.id),
  name: text((tag) => tag.name),
  source_id: text((tag) => tag.sourceId),
  group_id: integer((tag) => tag.groupId),
  optional_parameters: json((tag) => tag.optionalParameters),
  expires_at_ms: bigint((tag) => tag.expiresAtMs),
  app_ids: integers((tag) => tag.appIds),
});
