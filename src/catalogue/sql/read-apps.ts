/** Reads a client's apps in the order of their ids, a page at a time, or one of them. */

import type { Fragment, Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';

export interface App {
  readonly id: number;
  readonly name: string;
  /** Sorted. */
  readonly platformIds: readonly number[];
}

interface AppsToList {
  readonly clientId: number;
  /** Part of the name; null: any. */
  readonly text: string | null;
  readonly platformId: number | null;
  /** Only these; null: all. */
  readonly appIds: readonly number[] | null;
  readonly afterId: number;
  readonly limit: number;
}

export const listAppsById = (
  sql: Sql,
  { clientId, text, platformId, appIds, afterId, limit }: AppsToList,
): Promise<readonly App[]> =>
  select(
    sql,
    clientId,
    sql`and a.id > ${afterId}
      ${text === null ? sql`` : sql`and strpos(lower(a.name), lower(${text}::text)) > 0`}
      ${platformId === null ? sql`` : sql`and ${isOnPlatform(sql, platformId)}`}
      ${appIds === null ? sql`` : sql`and a.id = any (${list(appIds)}::integer[])`}`,
    sql`order by a.id limit ${limit}`,
  );

export async function readApp(sql: Sql, clientId: number, id: number): Promise<App | null> {
  const [app] = await select(sql, clientId, sql`and a.id = ${id}`, sql``);
  return app ?? null;
}

export async function countApps(sql: Sql, clientId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from apps where client_id = ${clientId}`;
  return row?.count ?? 0;
}

const select = (sql: Sql, clientId: number, conditions: Fragment, rest: Fragment) => sql<App[]>`
  select a.id, a.name,
    coalesce(array_agg(p.platform_id::integer order by p.platform_id) filter (where p.platform_id is not null), '{}')
      as "platformIds"
  from apps a left join app_platforms p on p.app_id = a.id
  where a.client_id = ${clientId} ${conditions}
  group by a.id ${rest}`;

const isOnPlatform = (sql: Sql, platformId: number): Fragment => sql`
  exists (select from app_platforms o where o.app_id = a.id and o.platform_id = ${platformId})`;
