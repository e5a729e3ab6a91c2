/** Makes an app on its platforms, and answers its id. The caller raises the catalogue version. */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';

export async function insertApp(
  sql: Sql,
  app: {
    readonly clientId: number;
    readonly name: string;
    readonly platformIds: readonly number[];
    readonly id?: number;
  },
): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    with app as (
      insert into apps (id, client_id, name)
      values (coalesce(${app.id ?? null}::integer, nextval('object_ids')), ${app.clientId}, ${app.name})
      returning id
    ), platforms as (
      insert into app_platforms (app_id, platform_id)
      select app.id, platform_id from app, unnest(${list(app.platformIds)}::smallint[]) as platform_id
    )
    select id from app`;
  if (row === undefined) throw new Error('an insert returned no row');
  return row.id;
}
