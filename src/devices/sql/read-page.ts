/** Reads an app's devices, a range of ordinals at a time, with all that is known of each. */

import type { Sql } from '../../database/sql.ts';
import type { DeviceAttributes } from '../../domain/device-attributes.ts';
import { selectedAttributes } from './attribute-columns.ts';
import type { KnownAttribute } from './known-attributes.ts';
import { knownAttributes } from './known-attributes.ts';

interface DeviceOfApp extends DeviceAttributes {
  readonly platformId: number;
  readonly deviceId: string;
  readonly registeredAtMs: number;
  readonly unsubscribedAtMs: number | null;
  readonly refusals: number;
  readonly refusedAtMs: number | null;
  readonly environment: string | null;
  readonly firstRegisteredOn: string | null;
  readonly attributes: readonly KnownAttribute[];
  /** Sorted. */
  readonly tagIds: readonly number[];
}

/** The last ordinal of a page; the next one begins after it. */
export interface PageEnd {
  readonly platformId: number;
  readonly ordinal: number;
}

interface DevicePage {
  readonly devices: readonly DeviceOfApp[];
  readonly end: PageEnd;
}

/**
 * The devices of the next `ordinals` ordinals; null: the end. None is missed; one that moves may
 * come twice. A range, because a planner without statistics would sort all devices of the app for
 * each page.
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
    select d.platform_id as "platformId", d.device_id as "deviceId", ${selectedAttributes(sql)},
      floor(extract(epoch from d.registered_at) * 1000)::float8 as "registeredAtMs",
      floor(extract(epoch from d.unsubscribed_at) * 1000)::float8 as "unsubscribedAtMs",
      d.refusals, floor(extract(epoch from d.refused_at) * 1000)::float8 as "refusedAtMs",
      d.apns_environment as environment, d.registered_on::text as "firstRegisteredOn",
      ${knownAttributes(sql)} as attributes, d.tag_ids as "tagIds"
    from devices d
    where d.app_id = ${appId} and d.platform_id = ${platformId} and d.ordinal between ${start} and ${end}
    order by d.ordinal`;
  return { devices, end: { platformId, ordinal: end } };
}
