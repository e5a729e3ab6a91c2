/** Reads the devices of an app, a page at a time, with all that another engine needs of them. */

import type { Sql } from '../sql.ts';

export interface DeviceOfApp {
  readonly platformId: number;
  readonly ordinal: number;
  readonly deviceId: string;
  readonly appVersion: string | null;
  readonly registeredAtMs: number;
  /** By id. */
  readonly tagIds: readonly number[];
}

/** Where a page ends, and the next one begins. */
export interface PageEnd {
  readonly platformId: number;
  readonly ordinal: number;
}

/** In the order of ordinals, which are for ever: whatever changes meanwhile, no device comes twice. */
export const readDevicePage = (sql: Sql, appId: number, after: PageEnd, count: number) => sql<
  DeviceOfApp[]
>`
  select d.platform_id as "platformId", d.ordinal, d.device_id as "deviceId", d.app_version as "appVersion",
    floor(extract(epoch from d.registered_at) * 1000)::float8 as "registeredAtMs",
    array(
      select s.tag_id from subscriptions s
      where s.app_id = d.app_id and s.platform_id = d.platform_id and s.ordinal = d.ordinal
      order by 1
    ) as "tagIds"
  from devices d
  where d.app_id = ${appId}
    and (d.app_id, d.platform_id, d.ordinal) > (${appId}::int, ${after.platformId}::int, ${after.ordinal}::int)
  order by d.app_id, d.platform_id, d.ordinal
  limit ${count}`;
