/**
 * The statements of a token's replacement: both devices locked, then one row changed in place, or
 * one merged into the other.
 */

import type { ApnsEnvironment } from '../../domain/credential.ts';
import type { DevicePlace } from '../../domain/group-change.ts';
import type { Sql } from '../sql.ts';
import type { DeviceKey } from './find-devices.ts';
import { readTagIds, writeTagIds } from './tag-ids.ts';

/** A device as it is. */
export interface LockedToReplace {
  readonly ordinal: number;
  /** Sorted. */
  readonly tagIds: readonly number[];
  readonly appVersion: string | null;
  readonly environment: ApnsEnvironment | null;
}

/** Null: there is no such device. */
export interface LockedPair {
  readonly old: LockedToReplace | null;
  readonly new: LockedToReplace | null;
}

/** Locks what there is of the two, in the order of keys as registrations do. */
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
 * Gives a device another deviceId. What providers said of the one before says nothing of it. Fails
 * by the unique key when the new one has been registered since both were looked for.
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
 * What becomes of the device that stays: its app has just named it, and it has the tags of both.
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
    tag_ids = ${writeTagIds(tagIds)}::int[]
  where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}`;
