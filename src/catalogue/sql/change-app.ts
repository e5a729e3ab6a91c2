/** Changes an app. The caller raises the catalogue version in the same transaction. */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';

export async function renameApp(sql: Sql, appId: number, name: string): Promise<void> {
  await sql`update apps set name = ${name} where id = ${appId}`;
}

/** Those that it is on already stay as they are. */
export async function addPlatforms(
  sql: Sql,
  appId: number,
  platformIds: readonly number[],
): Promise<void> {
  await sql`
    insert into app_platforms (app_id, platform_id)
    select ${appId}::integer, platform_id from unnest(${list(platformIds)}::smallint[]) as platform_id
    on conflict do nothing`;
}

/** Null takes them away. */
export async function writeParameters(
  sql: Sql,
  { appId, platformId }: Scope,
  parameters: object | null,
): Promise<void> {
  if (parameters === null) {
    await sql`delete from app_parameters where app_id = ${appId} and platform_id = ${platformId}`;
    return;
  }
  await sql`
    insert into app_parameters (app_id, platform_id, parameters)
    values (${appId}, ${platformId}, ${JSON.stringify(parameters)}::text::json)
    on conflict (app_id, platform_id) do update set parameters = excluded.parameters`;
}
