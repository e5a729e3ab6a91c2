/** Deletes events of devices that are too old, or too many of one app on one platform. */

import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';

/** The next scopes that have events, after another one: one look at the index for each. */
export async function nextScopesWithEvents(
  sql: Sql,
  after: Scope,
  limit: number,
): Promise<readonly Scope[]> {
  const scopes: Scope[] = [];
  while (scopes.length < limit) {
    const { appId, platformId } = scopes.at(-1) ?? after;
    const [scope] = await sql<Scope[]>`
      select app_id as "appId", platform_id as "platformId" from device_events
      where (app_id, platform_id) > (${appId}::integer, ${platformId}::smallint)
      order by app_id, platform_id limit 1`;
    if (scope === undefined) break;
    scopes.push(scope);
  }
  return scopes;
}

/** The time of the newest event that is too many; null: there are not so many. */
export async function newestTooMany(
  sql: Sql,
  { appId, platformId }: Scope,
  eventsMax: number,
): Promise<number | null> {
  const [row] = await sql<{ atMs: number }[]>`
    select extract(epoch from at)::float8 * 1000 as "atMs" from device_events
    where app_id = ${appId} and platform_id = ${platformId}
    order by at desc offset ${eventsMax} limit 1`;
  return row?.atMs ?? null;
}

/** Those up to this time. Answers how many, at most `limit`. */
export async function deleteDeviceEvents(
  sql: Sql,
  { appId, platformId }: Scope,
  toMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from device_events where ctid = any (array(
      select ctid from device_events
      where app_id = ${appId} and platform_id = ${platformId} and at <= to_timestamp(${toMs}::float8 / 1000)
      order by at limit ${limit}
    ))`;
  return deleted.count;
}
