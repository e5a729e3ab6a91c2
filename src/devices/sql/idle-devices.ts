/** Looks through devices, a slice at a time, for idle ones. */

import type { Sql } from '../../database/sql.ts';
import type { DevicePlace } from '../../domain/device-group-change.ts';
import { isIdle } from '../erase-devices.ts';

interface Slice {
  readonly idle: readonly DevicePlace[];
  /** Where the next slice begins; null: this was the last one. */
  readonly last: DevicePlace | null;
}

/**
 * Devices without tags that neither registered nor unsubscribed since `idleSinceMs`, among the next
 * `limit` of all devices. No index lists them, because every registration would pay for it.
 */
export async function idleDevices(
  sql: Sql,
  after: DevicePlace,
  idleSinceMs: number,
  limit: number,
): Promise<Slice> {
  const rows = await sql<(DevicePlace & { readonly isIdle: boolean; readonly place: number })[]>`
    with slice as (
      select app_id, platform_id, ordinal, row_number() over () as place,
        ${isIdle(sql, idleSinceMs)} as is_idle
      from (
        select * from devices
        where (app_id, platform_id, ordinal) > (${after.appId}::integer, ${after.platformId}::integer, ${after.ordinal}::integer)
        order by app_id, platform_id, ordinal
        limit ${limit}
      ) as d
    )
    select app_id as "appId", platform_id as "platformId", ordinal, is_idle as "isIdle", place
    from slice where is_idle or place = ${limit}
    order by place`;
  return {
    idle: rows.filter((row) => row.isIdle),
    last: rows.find((row) => row.place === limit) ?? null,
  };
}
