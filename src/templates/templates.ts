/** Reads and writes the template of an (app, platform). */

import type { PlatformId } from '../../packages/std/src/platforms.ts';
import type { Sql } from '../database/sql.ts';
import { list } from '../database/sql.ts';
import type { Scope } from '../domain/device.ts';

interface StoredTemplate {
  readonly expression: string;
  readonly updatedAt: number;
}

/** Null: there is none. */
export async function readTemplate(
  sql: Sql,
  { appId, platformId }: Scope,
): Promise<StoredTemplate | null> {
  const [row] = await sql<StoredTemplate[]>`
    select expression, floor(extract(epoch from updated_at) * 1000)::float8 as "updatedAt"
    from app_templates where app_id = ${appId} and platform_id = ${platformId}`;
  return row ?? null;
}

interface ScopeTemplate extends Scope<PlatformId> {
  readonly expression: string;
}

export const listTemplates = (sql: Sql, clientId: number, appIds: readonly number[]) => sql<
  ScopeTemplate[]
>`
  select t.app_id as "appId", t.platform_id as "platformId", t.expression
  from apps a join app_templates t on t.app_id = a.id
  where a.client_id = ${clientId} and a.id = any (${list(appIds)}::integer[])`;

interface ListedTemplate extends Scope<PlatformId> {
  readonly updatedAt: number;
}

interface TemplatesToList {
  /** Null: of all apps. */
  readonly appIds: readonly number[] | null;
  /** The last one of the page before. */
  readonly after: Scope;
  readonly limit: number;
}

export const listTemplatesPage = (
  sql: Sql,
  clientId: number,
  { appIds, after, limit }: TemplatesToList,
) => sql<ListedTemplate[]>`
  select t.app_id as "appId", t.platform_id as "platformId",
    floor(extract(epoch from t.updated_at) * 1000)::float8 as "updatedAt"
  from apps a join app_templates t on t.app_id = a.id
  where a.client_id = ${clientId} and (t.app_id, t.platform_id) > (${after.appId}::integer, ${after.platformId}::integer)
    ${appIds === null ? sql`` : sql`and a.id = any (${list(appIds)}::integer[])`}
  order by t.app_id, t.platform_id limit ${limit}`;

/** False: the app is not on this platform. */
export async function writeTemplate(
  tx: Sql,
  { appId, platformId }: Scope,
  expression: string,
): Promise<boolean> {
  const marked = await mark(tx, { appId, platformId }, true);
  if (!marked) return false;
  await tx`
    insert into app_templates (app_id, platform_id, expression)
    values (${appId}, ${platformId}, ${expression})
    on conflict (app_id, platform_id)
      do update set expression = excluded.expression, updated_at = now()`;
  return true;
}

/** False: there was none. */
export async function deleteTemplate(tx: Sql, { appId, platformId }: Scope): Promise<boolean> {
  await mark(tx, { appId, platformId }, false);
  const rows = await tx`
    delete from app_templates where app_id = ${appId} and platform_id = ${platformId} returning 1`;
  return rows.length > 0;
}

async function mark(tx: Sql, { appId, platformId }: Scope, has: boolean): Promise<boolean> {
  const rows = await tx`
    update app_platforms set has_template = ${has}
    where app_id = ${appId} and platform_id = ${platformId} returning 1`;
  return rows.length > 0;
}
