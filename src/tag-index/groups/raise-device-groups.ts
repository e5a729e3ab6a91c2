/** Raises the versions of groups: every transaction that changes data of an index must do so. */

import { DEVICE_GROUP_KEY } from '../../database/columns.ts';
import { rowsOf } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import type { DeviceGroupKey, RaisedDeviceGroup } from '../../domain/device-group-change.ts';

/**
 * The last statement of a transaction, after devices and tag days, groups sorted: every writer
 * takes its locks in that order. Commit soon: the rows stay locked.
 */
export async function raiseDeviceGroups(
  tx: Sql,
  groups: readonly DeviceGroupKey[],
): Promise<readonly RaisedDeviceGroup[]> {
  if (groups.length === 0) return [];
  return await tx<RaisedDeviceGroup[]>`
    insert into device_groups (app_id, platform_id, group_number, version)
    select distinct app_id, platform_id, group_number, 1
    from ${touched(tx, groups)}
    order by 1, 2, 3
    on conflict (app_id, platform_id, group_number) do update set version = device_groups.version + 1
    returning app_id as "appId", platform_id as "platformId", group_number as "groupNumber", version`;
}

const touched = rowsOf<DeviceGroupKey>('touched', DEVICE_GROUP_KEY);
