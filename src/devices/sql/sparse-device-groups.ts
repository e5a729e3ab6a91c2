/** Looks through the device groups, a window at a time, for those with few devices left. */

import type { Sql } from '../../database/sql.ts';
import { GROUP_DEVICES } from '../../domain/device.ts';
import type { DeviceGroupKey } from '../../domain/device-group-change.ts';

interface Sparseness {
  /** A group with more devices is not sparse. */
  readonly devicesMax: number;
  /** The newest groups of an (app, platform) to skip: they are still being filled. */
  readonly fillingGroups: number;
}

interface DeviceGroupWindow {
  /** In order of their keys. */
  readonly sparse: readonly DeviceGroupKey[];
  /** Where the next window begins; null: this was the last one. */
  readonly last: DeviceGroupKey | null;
}

/**
 * The sparse ones of the next `limit` groups that are not vacant. Stops counting where one is not.
 */
export async function sparseDeviceGroups(
  sql: Sql,
  after: DeviceGroupKey,
  { devicesMax, fillingGroups }: Sparseness,
  limit: number,
): Promise<DeviceGroupWindow> {
  const rows = await sql<(DeviceGroupKey & { readonly isSparse: boolean })[]>`
    select app_id as "appId", platform_id as "platformId", group_number as "groupNumber", (
      select count(*) from (
        select from devices d
        where d.app_id = g.app_id and d.platform_id = g.platform_id
          and d.ordinal between g.group_number * ${GROUP_DEVICES}::integer
            and g.group_number * ${GROUP_DEVICES}::integer + ${GROUP_DEVICES - 1}::integer
        limit ${devicesMax + 1}
      ) as counted
    ) <= ${devicesMax} as "isSparse"
    from (
      select g.app_id, g.platform_id, g.group_number
      from device_groups g join app_platforms p using (app_id, platform_id)
      where (g.app_id, g.platform_id, g.group_number)
          > (${after.appId}::integer, ${after.platformId}::smallint, ${after.groupNumber}::integer)
        and g.vacant_version is distinct from g.version
        and g.group_number < p.next_ordinal / ${GROUP_DEVICES}::integer - ${fillingGroups}::integer
      order by g.app_id, g.platform_id, g.group_number
      limit ${limit}
    ) as g
    order by app_id, platform_id, group_number`;
  return {
    sparse: rows.filter(({ isSparse }) => isSparse),
    last: rows.length < limit ? null : (rows.at(-1) ?? null),
  };
}
