/**
 * Writes whole tags, many in one statement: new ones under ids given out before, known ones
 * replaced as a whole.
 */

import type { Tag } from '../../domain/tag.ts';
import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';

export async function insertTags(sql: Sql, clientId: number, tags: readonly Tag[]): Promise<void> {
  if (tags.length === 0) return;
  await sql`
    insert into tags (id, client_id, name, source_id, group_id, optional_parameters, expires_at_ms, app_ids)
    select id, ${clientId}::integer, name, source_id, group_id, parameters::jsonb, expires_at_ms, app_ids::integer[]
    from ${rowsOf(sql, tags)}`;
}

export async function updateTags(sql: Sql, clientId: number, tags: readonly Tag[]): Promise<void> {
  if (tags.length === 0) return;
  await sql`
    update tags set
      name = given.name,
      source_id = given.source_id,
      group_id = given.group_id,
      optional_parameters = given.parameters::jsonb,
      expires_at_ms = given.expires_at_ms,
      app_ids = given.app_ids::integer[]
    from ${rowsOf(sql, tags)}
    where tags.id = given.id and tags.client_id = ${clientId}`;
}

const rowsOf = (sql: Sql, tags: readonly Tag[]) => sql`
  unnest(
    ${tags.map((tag) => tag.id)}::integer[],
    ${tags.map((tag) => tag.name)}::text[],
    ${tags.map((tag) => tag.sourceId)}::text[],
    ${tags.map((tag) => tag.groupId)}::integer[],
    ${tags.map((tag) => (tag.optionalParameters === null ? null : JSON.stringify(tag.optionalParameters)))}::text[],
    ${tags.map((tag) => tag.expiresAtMs)}::bigint[],
    ${tags.map(({ appIds }) => (appIds === null ? null : list(appIds)))}::text[]
  ) as given(id, name, source_id, group_id, parameters, expires_at_ms, app_ids)`;
