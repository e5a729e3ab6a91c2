/** Makes the devices of a batch that nobody had before. */

import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';
import type { DeviceKey } from './lock-devices.ts';

export interface NewDevice extends DeviceKey {
  readonly ordinal: number;
  readonly deviceId: string;
  readonly unsubscribes: boolean;
  readonly appVersion: string | null;
}

/** Answers the ordinal of each. Another node may have made one meanwhile: then its ordinal stands and ours is a gap. */
export async function insertDevices(
  tx: Sql,
  devices: readonly NewDevice[],
): Promise<readonly (DeviceKey & { readonly ordinal: number })[]> {
  if (devices.length === 0) return [];
  return await tx<(DeviceKey & { readonly ordinal: number })[]>`
    insert into devices as d
      (app_id, platform_id, ordinal, device_key, device_id, app_version, registered_at, unsubscribed_at)
    select app_id, platform_id, ordinal, device_key, device_id, app_version, now(),
      case when unsubscribes = 1 then now() end
    from unnest(
      ${list(devices.map((device) => device.appId))}::int[],
      ${list(devices.map((device) => device.platformId))}::int[],
      ${list(devices.map((device) => device.ordinal))}::int[],
      ${list(devices.map((device) => device.deviceKey))}::uuid[],
      ${devices.map((device) => device.deviceId)}::text[],
      ${devices.map((device) => device.appVersion)}::text[],
      ${list(devices.map((device) => Number(device.unsubscribes)))}::int[]
    ) as fresh (app_id, platform_id, ordinal, device_key, device_id, app_version, unsubscribes)
    order by app_id, platform_id, device_key
    on conflict (app_id, platform_id, device_key) do update set
      registered_at = now(),
      refusals = 0,
      refused_at = null,
      unsubscribed_at = coalesce(excluded.unsubscribed_at, d.unsubscribed_at),
      app_version = coalesce(excluded.app_version, d.app_version)
    returning app_id as "appId", platform_id as "platformId", ordinal,
      replace(device_key::text, '-', '') as "deviceKey"`;
}
