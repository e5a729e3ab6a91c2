/** Reads everything that a client's catalogue holds: its apps, tags and groups. */

import type { Sql, SqlPool } from '../../database/sql.ts';
import type { CatalogueTag, TagGroup } from '../../domain/tag.ts';

export interface AppRow {
  readonly id: number;
  readonly name: string;
  readonly platformIds: readonly number[];
}

export interface CatalogueRows {
  readonly version: number;
  readonly apps: readonly AppRow[];
  /** Expired ones too, deleted ones not; without parameters, which may be most of the data. */
  readonly tags: readonly CatalogueTag[];
  readonly tagGroups: readonly TagGroup[];
}

/** Every change of the catalogue raises it in its own transaction; null: no such client. */
export async function catalogueVersion(sql: Sql, clientId: number): Promise<number | null> {
  const [client] = await sql<{ version: number }[]>`
    select catalogue_version as version from clients where id = ${clientId}`;
  return client?.version ?? null;
}

/** Everything as of one moment. */
export async function loadCatalogue(sql: SqlPool, clientId: number): Promise<CatalogueRows | null> {
  const [rows] = await sql.begin('isolation level repeatable read read only', async (tx) => [
    await readAll(tx, clientId),
  ]);
  return rows ?? null;
}

async function readAll(tx: Sql, clientId: number): Promise<CatalogueRows | null> {
  const [version, apps, tags, tagGroups] = await Promise.all([
    catalogueVersion(tx, clientId),
    tx<AppRow[]>`
      select a.id, a.name,
        coalesce(array_agg(p.platform_id::integer order by p.platform_id) filter (where p.platform_id is not null), '{}')
          as "platformIds"
      from apps a left join app_platforms p on p.app_id = a.id
      where a.client_id = ${clientId} group by a.id order by a.id`,
    tx<CatalogueTag[]>`
      select id, client_id as "clientId", name, source_id as "sourceId", group_id as "groupId",
        expires_at_ms as "expiresAtMs", app_ids as "appIds"
      from tags where client_id = ${clientId} and deleted_at is null order by id`,
    tx<TagGroup[]>`
      select id, client_id as "clientId", name, source_id as "sourceId", parent_id as "parentId"
      from tag_groups where client_id = ${clientId} order by id`,
  ]);
  return version === null ? null : { version, apps, tags, tagGroups };
}
