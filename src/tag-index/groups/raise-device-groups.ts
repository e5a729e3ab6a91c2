/**
 * Raises the versions of groups. A transaction that changes data which an index holds of a device
 * must do this too.
 */

import { DEVICE_GROUP_KEY } from '../../database/columns.ts';
import { rowsOf } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import type { DeviceGroupKey, RaisedDeviceGroup } from '../../domain/device-group-change.ts';

/**
 * The last statement of a transaction, after devices and tag days: every writer takes its locks in
 * that order, and groups sorted, so that nodes do not deadlock. The rows stay locked until the
 * commit, which should follow soon.
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
