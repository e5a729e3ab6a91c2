/** Finds the devices that would have too many tags. */

import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';

export interface GrowingDevice {
  readonly appId: number;
  readonly platformId: number;
  readonly ordinal: number;
  /** How many tags it may gain at most. */
  readonly gain: number;
}

/** Answers, for the devices whose tags and gain together exceed `tagsMax`, their place in `devices` and their tags. */
export async function crowdedDevices(
  tx: Sql,
  devices: readonly GrowingDevice[],
  tagsMax: number,
): Promise<readonly { readonly index: number; readonly tagIds: readonly number[] }[]> {
  if (devices.length === 0) return [];
  return await tx<{ index: number; tagIds: number[] }[]>`
    select (growing.place - 1)::int as index, coalesce(array_agg(s.tag_id) filter (where s.tag_id is not null), '{}') as "tagIds"
    from unnest(
      ${list(devices.map((device) => device.appId))}::int[],
      ${list(devices.map((device) => device.platformId))}::int[],
      ${list(devices.map((device) => device.ordinal))}::int[],
      ${list(devices.map((device) => device.gain))}::int[]
    ) with ordinality as growing (app_id, platform_id, ordinal, gain, place)
    left join subscriptions s
      on s.app_id = growing.app_id and s.platform_id = growing.platform_id and s.ordinal = growing.ordinal
    group by growing.place, growing.gain
    having count(s.tag_id) + growing.gain > ${tagsMax}`;
}
