/** A token's replacement, one transaction: all subscriptions of a device move to another deviceId, or nothing does. */

import { groupOf, offsetOf } from '../domain/device.ts';
import { deleteDevices } from '../store/devices/erase-devices.ts';
import { raiseGroups } from '../store/devices/raise-groups.ts';
import {
  lockPair,
  moveDevice,
  moveSubscriptions,
  touchMerged,
} from '../store/devices/replace-device.ts';
import type { Sql, SqlPool } from '../store/sql.ts';
import { transact } from '../store/transact.ts';
import type { DeviceRef } from './operation.ts';

export interface Replacement {
  /** The device as it is known now. */
  readonly device: DeviceRef;
  /** Of the same app and platform. */
  readonly by: DeviceRef;
  readonly appVersion: string | null;
}

export type ReplaceOutcome =
  /** The new deviceId was unknown: the device goes on under it. */
  | 'moved'
  /** Both were there: the old one's tags are the new one's now, and the old one is gone. */
  | 'merged'
  /** Only the new one is there, or both are the same: it was done before. */
  | 'unchanged'
  /** Neither is there. */
  | 'unknown';

/** What changed in one group of devices, for whoever keeps an index of them. */
export interface ReplacedGroup {
  readonly groupNumber: number;
  /** Null: it is erased. */
  readonly devices: readonly { readonly offset: number; readonly deviceId: string | null }[];
  readonly added: readonly { readonly tagId: number; readonly offset: number }[];
  readonly removed: readonly { readonly tagId: number; readonly offset: number }[];
}

export interface Replaced {
  readonly outcome: ReplaceOutcome;
  /** Whether tags were lost because the device has `tagsMax`. */
  readonly isTagsLimited: boolean;
  readonly appId: number;
  readonly platformId: number;
  /** A group comes twice when both devices lie in it. */
  readonly groups: readonly ReplacedGroup[];
}

/** A registration of the new device between two looks is seen by the next one. */
const TRIES_MAX = 5;
const UNIQUE_VIOLATION = '23505';

/** Commits, or throws and has done nothing. Done again it answers `unchanged`. */
export async function commitReplacement(
  sql: SqlPool,
  replacement: Replacement,
  tagsMax: number,
): Promise<Replaced> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transact(sql, (tx) => replace(tx, replacement, tagsMax));
    } catch (error) {
      const isRace = error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION;
      if (!isRace || attempt === TRIES_MAX) throw error;
    }
  }
}

async function replace(tx: Sql, replacement: Replacement, tagsMax: number): Promise<Replaced> {
  const { device, by } = replacement;
  const { oldOrdinal, newOrdinal } = await lockPair(tx, device, by.deviceKey);
  if (device.deviceKey === by.deviceKey) {
    return unchanged(device, oldOrdinal === null ? 'unknown' : 'unchanged');
  }
  if (oldOrdinal === null) {
    return unchanged(device, newOrdinal === null ? 'unknown' : 'unchanged');
  }
  return newOrdinal === null
    ? await move(tx, replacement, oldOrdinal)
    : await merge(tx, replacement, oldOrdinal, newOrdinal, tagsMax);
}

const unchanged = (
  { appId, platformId }: DeviceRef,
  outcome: 'unchanged' | 'unknown',
): Replaced => ({ outcome, isTagsLimited: false, appId, platformId, groups: [] });

/** The ordinal stays, and with it everything that hangs on it. */
async function move(
  tx: Sql,
  { device, by, appVersion }: Replacement,
  ordinal: number,
): Promise<Replaced> {
  const { appId, platformId } = device;
  const { deviceKey, deviceId } = by;
  const groupNumber = groupOf(ordinal);
  await moveDevice(tx, { appId, platformId, ordinal }, { deviceKey, deviceId, appVersion });
  await raiseGroups(tx, [{ appId, platformId, groupNumber }]);
  const devices = [{ offset: offsetOf(ordinal), deviceId }];
  const group = { groupNumber, devices, added: [], removed: [] };
  return { outcome: 'moved', isTagsLimited: false, appId, platformId, groups: [group] };
}

async function merge(
  tx: Sql,
  { device: { appId, platformId }, appVersion }: Replacement,
  oldOrdinal: number,
  newOrdinal: number,
  tagsMax: number,
): Promise<Replaced> {
  const place = { appId, platformId, ordinal: oldOrdinal };
  await touchMerged(tx, { ...place, ordinal: newOrdinal }, oldOrdinal, appVersion);
  const tags = await moveSubscriptions(tx, place, newOrdinal, tagsMax);
  const offset = offsetOf(newOrdinal);
  const oldOffset = offsetOf(oldOrdinal);
  const gone: ReplacedGroup = {
    groupNumber: groupOf(oldOrdinal),
    devices: [{ offset: oldOffset, deviceId: null }],
    added: [],
    removed: tags.map(({ tagId }) => ({ tagId, offset: oldOffset })),
  };
  const stays: ReplacedGroup = {
    groupNumber: groupOf(newOrdinal),
    devices: [],
    added: tags.filter(({ isGained }) => isGained).map(({ tagId }) => ({ tagId, offset })),
    removed: [],
  };
  await deleteDevices(tx, [{ ...place, groupNumber: gone.groupNumber }]);
  await raiseGroups(
    tx,
    [gone, stays].map(({ groupNumber }) => ({ appId, platformId, groupNumber })),
  );
  const isTagsLimited = tags.some(({ isLost }) => isLost);
  return { outcome: 'merged', isTagsLimited, appId, platformId, groups: [gone, stays] };
}
