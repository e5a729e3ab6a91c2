/** A token's replacement, one transaction: all subscriptions of a device move to another deviceId, or nothing does. */

import { groupOf } from '../domain/device.ts';
import type { DeviceNote, GroupChange } from '../domain/group-change.ts';
import { changesOf } from '../domain/group-change.ts';
import { deleteDevices } from '../store/devices/erase-devices.ts';
import { againIfMadeSince } from '../store/devices/made-since.ts';
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

export interface Replaced {
  readonly outcome: ReplaceOutcome;
  /** Whether tags were lost because the device has `tagsMax`. */
  readonly isTagsLimited: boolean;
  readonly changes: readonly GroupChange[];
}

/** Commits, or throws and has done nothing. Done again it answers `unchanged`. */
export const commitReplacement = (
  sql: SqlPool,
  replacement: Replacement,
  tagsMax: number,
): Promise<Replaced> =>
  againIfMadeSince(() => transact(sql, (tx) => replace(tx, replacement, tagsMax)));

async function replace(tx: Sql, replacement: Replacement, tagsMax: number): Promise<Replaced> {
  const { device, by } = replacement;
  const { oldOrdinal, newOrdinal } = await lockPair(tx, device, by.deviceKey);
  if (device.deviceKey === by.deviceKey) {
    return unchanged(oldOrdinal === null ? 'unknown' : 'unchanged');
  }
  if (oldOrdinal === null) {
    return unchanged(newOrdinal === null ? 'unknown' : 'unchanged');
  }
  return newOrdinal === null
    ? await move(tx, replacement, oldOrdinal)
    : await merge(tx, replacement, oldOrdinal, newOrdinal, tagsMax);
}

const unchanged = (outcome: 'unchanged' | 'unknown'): Replaced => ({
  outcome,
  isTagsLimited: false,
  changes: [],
});

const NO_NOTE: DeviceNote = { refusals: 0, environment: null };

/** The ordinal stays, and with it everything that hangs on it but what providers said of the other token. */
async function move(
  tx: Sql,
  { device, by, appVersion }: Replacement,
  ordinal: number,
): Promise<Replaced> {
  const { appId, platformId } = device;
  const { deviceKey, deviceId } = by;
  const place = { appId, platformId, ordinal };
  await moveDevice(tx, place, { deviceKey, deviceId, appVersion });
  const raised = await raiseGroups(tx, [{ appId, platformId, groupNumber: groupOf(ordinal) }]);
  const edits = { tokens: [{ ...place, deviceId }], notes: [{ ...place, note: NO_NOTE }] };
  return { outcome: 'moved', isTagsLimited: false, changes: changesOf(raised, edits) };
}

async function merge(
  tx: Sql,
  { device: { appId, platformId }, appVersion }: Replacement,
  oldOrdinal: number,
  newOrdinal: number,
  tagsMax: number,
): Promise<Replaced> {
  const gone = { appId, platformId, ordinal: oldOrdinal };
  const stays = { appId, platformId, ordinal: newOrdinal };
  const environment = await touchMerged(tx, stays, oldOrdinal, appVersion);
  const tags = await moveSubscriptions(tx, gone, newOrdinal, tagsMax);
  await deleteDevices(tx, [gone]);
  const raised = await raiseGroups(
    tx,
    [oldOrdinal, newOrdinal].map((ordinal) => ({
      appId,
      platformId,
      groupNumber: groupOf(ordinal),
    })),
  );
  const changes = changesOf(raised, {
    tokens: [{ ...gone, deviceId: null }],
    added: tags.filter(({ isGained }) => isGained).map(({ tagId }) => ({ ...stays, tagId })),
    removed: tags.map(({ tagId }) => ({ ...gone, tagId })),
    notes: [{ ...stays, note: { refusals: 0, environment } }],
  });
  return { outcome: 'merged', isTagsLimited: tags.some(({ isLost }) => isLost), changes };
}
