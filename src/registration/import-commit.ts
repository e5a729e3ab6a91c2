/** One batch of imported devices, one transaction: as a batch of registrations, but what an app said is newer than a file. */

import { groupOf } from '../domain/device.ts';
import type { DevicePlace, GroupChange, Subscription } from '../domain/group-change.ts';
import { changesOf } from '../domain/group-change.ts';
import { insertImported, lockImported, updateImported } from '../store/devices/import-devices.ts';
import { raiseGroups } from '../store/devices/raise-groups.ts';
import type { Sql, SqlPool } from '../store/sql.ts';
import type { SubscriptionChanges } from '../store/subscriptions/change-subscriptions.ts';
import { changeSubscriptions, without } from '../store/subscriptions/change-subscriptions.ts';
import { crowdedDevices } from '../store/subscriptions/crowded-devices.ts';
import { transact } from '../store/transact.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';
import { keyOf } from './batch.ts';
import type { ImportedOperation, ImportResult } from './imported.ts';
import type { Ordinals } from './ordinals.ts';

/** A device once, with all that the batch says of it, and what becomes of it. */
interface ImportedDevice {
  readonly operation: ImportedOperation;
  add: readonly number[];
  clear: boolean;
  ordinal: number | null;
  isNew: boolean;
  result: ImportResult;
}

export interface ImportContext {
  readonly sql: SqlPool;
  readonly feed: IndexFeed;
  readonly ordinals: Ordinals;
  readonly tagsPerDeviceMax: number;
  /** Of tag_days: the lane's number. */
  readonly slot: number;
}

export interface CommittedImport {
  /** Of each operation, in its place. */
  readonly results: readonly ImportResult[];
  readonly changes: readonly GroupChange[];
}

/** Commits, or throws and has done nothing. */
export async function commitImported(
  context: ImportContext,
  operations: readonly ImportedOperation[],
): Promise<CommittedImport> {
  const merged = mergeByDevice(operations);
  // For every device that may turn out to be new.
  await context.ordinals.provideFor(merged.map(({ device }) => device));
  // Kept when the transaction is tried again: the stock was filled for one try only.
  const given = new Map<string, number>();
  const { devices, changes } = await transact(context.sql, async (tx) => {
    const devices = merged.map(begin);
    await findKnown(tx, devices);
    await writeDevices(tx, context.ordinals, given, devices);
    await limitTags(tx, devices, context.tagsPerDeviceMax);
    const wanted = subscriptionChanges(devices);
    const done = await changeSubscriptions(tx, wanted, context.slot);
    const made = devices.filter(({ isNew }) => isNew).map(placeOf);
    const newGroups = made.map((place) => ({ ...place, groupNumber: groupOf(place.ordinal) }));
    const raised = await raiseGroups(tx, [...newGroups, ...done.groups]);
    const changes = changesOf(raised, {
      tokens: made,
      added: without(wanted.added, done.refused),
      removed: done.cleared,
    });
    return { devices, changes };
  });
  const results = new Map(
    devices.map(({ operation, result }) => [keyOf(operation.device), result]),
  );
  return {
    results: operations.map(({ device }) => results.get(keyOf(device)) ?? 'unavailable'),
    changes,
  };
}

/** A file may name a device twice, and SQL cannot touch a row twice. */
function mergeByDevice(operations: readonly ImportedOperation[]): readonly ImportedOperation[] {
  const merged = new Map<string, ImportedOperation>();
  for (const operation of operations) {
    const key = keyOf(operation.device);
    const before = merged.get(key);
    merged.set(key, before === undefined ? operation : merge(before, operation));
  }
  return [...merged.values()];
}

const merge = (before: ImportedOperation, after: ImportedOperation): ImportedOperation => ({
  ...after,
  appVersion: after.appVersion ?? before.appVersion,
  registeredAtMs: laterOf(before.registeredAtMs, after.registeredAtMs),
  tagIds: after.replacesTags ? after.tagIds : [...before.tagIds, ...after.tagIds],
});

const laterOf = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

const begin = (operation: ImportedOperation): ImportedDevice => ({
  operation,
  add: [...new Set(operation.tagIds)],
  clear: false,
  ordinal: null,
  isNew: false,
  result: 'merged',
});

/** Locks those that are there, and keeps what their apps said since the import began. */
async function findKnown(tx: Sql, devices: readonly ImportedDevice[]): Promise<void> {
  const known = await lockImported(
    tx,
    devices.map(({ operation }) => ({ ...operation.device, sinceMs: operation.startedAtMs })),
  );
  for (const { index, ordinal, hasRegistered, hasUnsubscribed } of known) {
    const device = devices[index];
    if (device === undefined) continue;
    device.ordinal = ordinal;
    const { replacesTags } = device.operation;
    if (hasUnsubscribed || (replacesTags && hasRegistered)) keep(device);
    else device.clear = replacesTags;
  }
}

function keep(device: ImportedDevice): void {
  device.add = [];
  device.clear = false;
  device.result = 'kept';
}

async function writeDevices(
  tx: Sql,
  ordinals: Ordinals,
  given: Map<string, number>,
  devices: readonly ImportedDevice[],
): Promise<void> {
  const known = devices.filter(({ ordinal }) => ordinal !== null);
  const fresh = devices.filter(
    (device) => device.ordinal === null && take(ordinals, given, device),
  );
  const [, inserted] = await Promise.all([
    updateImported(tx, known.map(rowOf)),
    insertImported(tx, fresh.map(rowOf)),
  ]);
  const ordinalByKey = new Map(inserted.map((row) => [keyOf(row), row.ordinal]));
  for (const device of fresh) {
    const ordinal = ordinalByKey.get(keyOf(device.operation.device)) ?? null;
    device.isNew = ordinal === device.ordinal;
    device.ordinal = ordinal;
    if (device.isNew) device.result = 'added';
    // Its app has registered it between the two statements.
    else if (device.operation.replacesTags) keep(device);
  }
}

/** Gives an ordinal to a new device, if the app may have one more. */
function take(ordinals: Ordinals, given: Map<string, number>, imported: ImportedDevice): boolean {
  const { device } = imported.operation;
  const key = keyOf(device);
  const ordinal = given.get(key) ?? ordinals.take(device);
  if (ordinal === null) {
    imported.result = 'limit';
    return false;
  }
  given.set(key, ordinal);
  imported.ordinal = ordinal;
  return true;
}

/**
 * A time that nobody knows is the beginning of time: an app that is gone since is erased when its provider says so, which counts
 * only what comes after the registration. Without tags nothing is sent, and the device is kept as if it had come today.
 */
function rowOf({ operation, ordinal }: ImportedDevice) {
  const { device, appVersion, registeredAtMs, startedAtMs, tagIds } = operation;
  const atMs = registeredAtMs ?? (tagIds.length > 0 ? 0 : startedAtMs);
  return {
    ...device,
    appVersion,
    registeredAtMs: Math.min(atMs, startedAtMs),
    ordinal: ordinal ?? 0,
  };
}

/** TAGS_PER_DEVICE_MAX, for clients that have more tags than it. */
async function limitTags(
  tx: Sql,
  devices: readonly ImportedDevice[],
  tagsMax: number,
): Promise<void> {
  const counted = devices.filter(({ operation, add }) => operation.countsTags && add.length > 0);
  for (const device of counted) if (device.add.length > tagsMax) keepWithin(device, [], tagsMax);
  const growing = counted.flatMap((device) => {
    if (device.ordinal === null || device.isNew || device.clear) return [];
    const { appId, platformId } = device.operation.device;
    return [{ device, appId, platformId, ordinal: device.ordinal, gain: device.add.length }];
  });
  for (const { index, tagIds } of await crowdedDevices(tx, growing, tagsMax)) {
    const device = growing[index]?.device;
    if (device !== undefined) keepWithin(device, tagIds, tagsMax);
  }
}

function keepWithin(device: ImportedDevice, tagsBefore: readonly number[], tagsMax: number): void {
  const before = new Set(tagsBefore);
  const gained = device.add.filter((tagId) => !before.has(tagId));
  const room = Math.max(0, tagsMax - before.size);
  if (gained.length > room) device.result = 'tags-limited';
  device.add = gained.slice(0, room);
}

function subscriptionChanges(devices: readonly ImportedDevice[]): SubscriptionChanges {
  const added: Subscription[] = [];
  const cleared: DevicePlace[] = [];
  for (const { operation, ordinal, add, clear } of devices) {
    if (ordinal === null) continue;
    const { appId, platformId } = operation.device;
    for (const tagId of add) added.push({ appId, platformId, ordinal, tagId });
    if (clear) cleared.push({ appId, platformId, ordinal });
  }
  return { added, cleared };
}

const placeOf = ({ operation: { device }, ordinal }: ImportedDevice) => ({
  appId: device.appId,
  platformId: device.platformId,
  deviceId: device.deviceId,
  ordinal: ordinal ?? 0,
});
