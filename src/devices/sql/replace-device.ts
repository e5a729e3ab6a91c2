/**
 * The statements that replace a token: they lock both devices, then change one row in place, or
 * merge one into the other.
 */

import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { ApnsEnvironment } from '../../domain/credential.ts';
import type { DevicePlace } from '../../domain/device-group-change.ts';
import type { DeviceKey } from './find-devices.ts';
import { readTagIds } from './tag-ids.ts';

/** A device as it is. */
export interface LockedToReplace {
  readonly ordinal: number;
  /** Sorted. */
  readonly tagIds: readonly number[];
  readonly appVersion: string | null;
  readonly environment: ApnsEnvironment | null;
}

/** Null: the device does not exist. */
interface LockedPair {
  readonly old: LockedToReplace | null;
  readonly new: LockedToReplace | null;
}

/** Locks those of the two that exist, in the order of keys, as registrations do. */
export async function lockPair(
  tx: Sql,
  { appId, platformId, deviceKey }: DeviceKey,
  newKey: string,
): Promise<LockedPair> {
  const rows = await tx<(Omit<LockedToReplace, 'tagIds'> & { tagIds: string; isOld: boolean })[]>`
    select ordinal, tag_ids::text as "tagIds", app_version as "appVersion", apns_environment as environment,
      device_key = ${deviceKey}::uuid as "isOld"
    from devices
    where app_id = ${appId} and platform_id = ${platformId}
      and device_key in (${deviceKey}::uuid, ${newKey}::uuid)
    order by app_id, platform_id, device_key
    for update`;
  const locked = rows.map((row) => ({ ...row, tagIds: readTagIds(row.tagIds) }));
  return {
    old: locked.find(({ isOld }) => isOld) ?? null,
    new: locked.find(({ isOld }) => !isOld) ?? null,
  };
}

/**
 * Gives a device another deviceId, and forgets what providers said of the old one. Fails on the
 * unique key when the new deviceId was registered since both were looked up.
 */
export const moveDevice = (
  tx: Sql,
  { appId, platformId, ordinal }: DevicePlace,
  to: { readonly deviceKey: string; readonly deviceId: string; readonly appVersion: string | null },
) => tx`
  update devices set
    device_key = ${to.deviceKey}::uuid,
    device_id = ${to.deviceId},
    app_version = coalesce(${to.appVersion}, app_version),
    registered_at = now(),
    refusals = 0,
    refused_at = null,
    apns_environment = null
  where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}`;

/**
 * Writes the device that stays after a merge: its app has just named it, and it has the tags of
 * both.
 */
export const writeMerged = (
  tx: Sql,
  { appId, platformId, ordinal }: DevicePlace,
  {
    appVersion,
    tagIds,
  }: { readonly appVersion: string | null; readonly tagIds: readonly number[] },
) => tx`
  update devices set registered_at = now(), refusals = 0, refused_at = null, app_version = ${appVersion},
    tag_ids = ${list(tagIds)}::integer[]
  where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}`;
