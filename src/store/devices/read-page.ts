/**
 * Reads the devices of an app, a range of ordinals at a time, with all that another engine needs of
 * them.
 */

import type { Sql } from '../sql.ts';

export interface DeviceOfApp {
  readonly platformId: number;
  readonly deviceId: string;
  readonly appVersion: string | null;
  readonly registeredAtMs: number;
  /** Sorted. */
  readonly tagIds: readonly number[];
}

/** The last ordinal of a page; the next one begins after it. */
export interface PageEnd {
  readonly platformId: number;
  readonly ordinal: number;
}

export interface DevicePage {
  readonly devices: readonly DeviceOfApp[];
  readonly end: PageEnd;
}

/**
 * The devices of the next `ordinals` ordinals, or null at the end. An ordinal has one device, for
 * ever: whatever changes meanwhile, none is missed, and only one that is moved
 * (store/housekeeping/move-devices.ts), which is always to a later ordinal, may come twice. A range
 * of them, because a planner without statistics would else read and sort all of the app's devices
 * for each page.
 */
export async function readDevicePage(
  sql: Sql,
  appId: number,
  after: PageEnd,
  ordinals: number,
): Promise<DevicePage | null> {
  const [platform] = await sql<{ platformId: number; mark: number }[]>`
    select platform_id as "platformId", next_ordinal as mark from app_platforms
    where app_id = ${appId} and next_ordinal > 0 and (platform_id > ${after.platformId}
      or (platform_id = ${after.platformId} and next_ordinal > ${after.ordinal + 1}))
    order by platform_id limit 1`;
  if (platform === undefined) return null;
  const { platformId, mark } = platform;
  const start = platformId === after.platformId ? after.ordinal + 1 : 0;
  const end = Math.min(start + ordinals, mark) - 1;
  const devices = await sql<DeviceOfApp[]>`
    select d.platform_id as "platformId", d.device_id as "deviceId", d.app_version as "appVersion",
      floor(extract(epoch from d.registered_at) * 1000)::float8 as "registeredAtMs",
      d.tag_ids as "tagIds"
    from devices d
    where d.app_id = ${appId} and d.platform_id = ${platformId} and d.ordinal between ${start} and ${end}
    order by d.ordinal`;
  return { devices, end: { platformId, ordinal: end } };
}
