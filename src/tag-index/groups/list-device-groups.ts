/** Reads the versions of groups in the database, against which every tag index is checked. */

import { DEVICE_GROUP_KEY } from '../../database/columns.ts';
import { rowsOf } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import type { DeviceGroupKey, RaisedDeviceGroup } from '../../domain/device-group-change.ts';

/** Before every group. */
export const BEFORE_ALL: DeviceGroupKey = { appId: 0, platformId: 0, groupNumber: -1 };

export const listDeviceGroups = (sql: Sql, after: DeviceGroupKey, limit: number) => sql<
  RaisedDeviceGroup[]
>`
  select app_id as "appId", platform_id as "platformId", group_number as "groupNumber", version
  from device_groups
  where (app_id, platform_id, group_number) > (${after.appId}::integer, ${after.platformId}::smallint, ${after.groupNumber}::integer)
  order by app_id, platform_id, group_number
  limit ${limit}`;

/** The groups of an (app, platform) that may hold a device, in order. */
export const listDeviceGroupsOf = (sql: Sql, { appId, platformId }: Scope) => sql<
  RaisedDeviceGroup[]
>`
  select app_id as "appId", platform_id as "platformId", group_number as "groupNumber", version
  from device_groups
  where app_id = ${appId} and platform_id = ${platformId} and vacant_version is distinct from version
  order by group_number`;

/** The versions of those of the groups that have one. */
export const readVersions = (sql: Sql, groups: readonly DeviceGroupKey[]) => sql<
  RaisedDeviceGroup[]
>`
  select app_id as "appId", platform_id as "platformId", group_number as "groupNumber", version
  from device_groups
  join ${wanted(sql, groups)} using (app_id, platform_id, group_number)`;

const wanted = rowsOf<DeviceGroupKey>('wanted', DEVICE_GROUP_KEY);

export async function countDeviceGroups(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) as count from device_groups`;
  return row?.count ?? 0;
}
