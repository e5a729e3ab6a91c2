/**
 * Commits one piece of a bulk operation: the changes of its devices and its progress in one
 * transaction, so each device is changed once and counted once, whichever node dies. Devices are
 * changed as registrations change them, but nothing is said of their apps: none has spoken.
 */

import type { BulkChange, BulkCounts, BulkOutcome } from '../../domain/bulk-operation.ts';
import { lastOrdinalOf } from '../../domain/device.ts';
import type { DeviceGroupChange, DevicePlace } from '../../domain/device-group-change.ts';
import { changesOf } from '../../domain/device-group-change.ts';
import type { TakenBulkOperation } from '../../store/bulk-operations/take-piece.ts';
import {
  groupsWithMembers,
  membersInGroup,
  postponeBulkOperation,
  recordBulkPiece,
  takeBulkOperation,
} from '../../store/bulk-operations/take-piece.ts';
import type { DeviceKey, Found, KnownDevice } from '../../store/devices/find-devices.ts';
import { findDevices, lockDevices } from '../../store/devices/find-devices.ts';
import { touchedDeviceGroups } from '../../store/devices/record-changes.ts';
import { writeBatch } from '../../store/devices/write-batch.ts';
import type { Sql, SqlPool } from '../../store/sql.ts';
import { BULK_SLOT } from '../../store/tag-days/slots.ts';
import { transact } from '../../store/transact.ts';
import { subscribersOf } from '../change.ts';
import type { JudgedDevice } from './judge.ts';
import { judge } from './judge.ts';

/**
 * Devices of one transaction: registrations of these devices wait for it, and on the embedded
 * database all do, for some tens of milliseconds.
 */
const DEVICES_MAX = 100;
/** Groups that are searched for members in one transaction: some 10 ms of the database each. */
const GROUPS_MAX = 20;
/** An operation that failed is tried again after this time; those of other clients go on. */
const AGAIN_AFTER_MS = 10_000;

export interface BulkContext {
  readonly sql: SqlPool;
  readonly tagsPerDeviceMax: number;
}

/** What an index has to learn of the piece. */
export type BulkPiece = readonly DeviceGroupChange[];

/** Null: no piece is due. */
export async function commitBulkPiece(context: BulkContext): Promise<BulkPiece | null> {
  let operationId: number | null = null;
  try {
    return await transact(context.sql, async (tx) => {
      const operation = await takeBulkOperation(tx, DEVICES_MAX);
      if (operation === null) return null;
      operationId = operation.id;
      return await commitPiece(tx, context, operation);
    });
  } catch (error) {
    // Without the database it cannot be postponed either; then it is not alone.
    if (operationId !== null) {
      await postponeBulkOperation(context.sql, operationId, AGAIN_AFTER_MS).catch(() => undefined);
    }
    throw error;
  }
}

async function commitPiece(
  tx: Sql,
  { tagsPerDeviceMax }: BulkContext,
  operation: TakenBulkOperation,
): Promise<BulkPiece> {
  const { devices, after, isLast } = await nextDevices(tx, operation);
  // Without locks: what is as it should be is not locked.
  const found = await find(tx, operation, devices);
  const looked = devices.slice(0, found.lookedFor);
  const seen = await judge(tx, operation, looked, found.devices, tagsPerDeviceMax);
  const wanted = seen.filter(isChanged).map(({ device }) => device);
  const locked = wanted.length === 0 ? NONE : await lockDevices(tx, wanted, 0);
  const judged = await judge(tx, operation, wanted, locked.devices, tagsPerDeviceMax);
  const changes = await write(tx, operation, judged.filter(isChanged));
  const isWhole = looked.length === devices.length;
  await recordBulkPiece(tx, operation.id, {
    ...countsOf([...seen.filter((device) => !isChanged(device)), ...judged]),
    after: isWhole ? after : placeOf(looked.at(-1), operation.after),
    isLast: isWhole && isLast,
  });
  return changes;
}

const NONE: Found = { devices: [], lookedFor: 0 };

interface NextDevices {
  readonly devices: readonly (DeviceKey & { readonly ordinal?: number })[];
  /** Where the next piece of members begins. */
  readonly after: DevicePlace;
  readonly isLast: boolean;
}

async function nextDevices(tx: Sql, operation: TakenBulkOperation): Promise<NextDevices> {
  const { deviceKeys, appId, platformId, left, after } = operation;
  if (deviceKeys === null || appId === null || platformId === null) {
    return await nextMembers(tx, operation);
  }
  const devices = deviceKeys.map((deviceKey) => ({ appId, platformId, deviceKey }));
  return { devices, after, isLast: left === 0 };
}

/**
 * In the order of ordinals. A device that compaction moves meanwhile gets a later one: it may be
 * met twice, and is not missed.
 */
async function nextMembers(tx: Sql, operation: TakenBulkOperation): Promise<NextDevices> {
  const groups = await groupsWithMembers(tx, operation, GROUPS_MAX);
  const devices: (DeviceKey & DevicePlace)[] = [];
  let { after } = operation;
  for (const group of groups) {
    const room = DEVICES_MAX - devices.length;
    const members = await membersInGroup(tx, operation, group, room);
    devices.push(...members);
    if (members.length === room) {
      return { devices, after: placeOf(devices.at(-1), after), isLast: false };
    }
    const { appId, platformId, groupNumber } = group;
    after = { appId, platformId, ordinal: lastOrdinalOf(groupNumber) };
  }
  return { devices, after, isLast: groups.length < GROUPS_MAX };
}

/** A device of a list has no place: lists go by their keys. */
const placeOf = (
  device: NextDevices['devices'][number] | undefined,
  before: DevicePlace,
): DevicePlace =>
  device?.ordinal === undefined
    ? before
    : { appId: device.appId, platformId: device.platformId, ordinal: device.ordinal };

/** As many of them as can be read together. */
const find = async (
  tx: Sql,
  { isAppThere }: TakenBulkOperation,
  devices: readonly DeviceKey[],
): Promise<Found> => {
  if (devices.length === 0) return NONE;
  return isAppThere
    ? await findDevices(tx, devices, 0)
    : { devices: [], lookedFor: devices.length };
};

/** To be written. */
type Changed = JudgedDevice & { readonly known: KnownDevice };

const isChanged = (judged: JudgedDevice): judged is Changed =>
  judged.outcome === 'changed' && judged.known !== null;

async function write(
  tx: Sql,
  { subscribe }: BulkChange,
  devices: readonly Changed[],
): Promise<BulkPiece> {
  if (devices.length === 0) return [];
  const changes = devices.map(({ device, known, tags }) => ({
    appId: device.appId,
    platformId: device.platformId,
    ordinal: known.ordinal,
    gained: tags.gained,
    lost: tags.lost,
    subscribers: subscribersOf(tags),
  }));
  const raised = await writeBatch(tx, {
    updated: devices.map(({ device, known, tags }) => ({
      appId: device.appId,
      platformId: device.platformId,
      ordinal: known.ordinal,
      registers: false,
      // It is kept for DEVICE_RETENTION_DAYS from now, and an import that began before leaves it.
      unsubscribes: subscribe.length === 0,
      appVersion: null,
      tagIds: tags.tagIds,
    })),
    inserted: [],
    changes,
    groups: touchedDeviceGroups(changes),
    slot: BULK_SLOT,
  });
  return changesOf(raised, {
    added: changes.flatMap(({ gained, ...place }) => gained.map((tagId) => ({ ...place, tagId }))),
    removed: changes.flatMap(({ lost, ...place }) => lost.map((tagId) => ({ ...place, tagId }))),
  });
}

function countsOf(devices: readonly JudgedDevice[]): BulkCounts {
  const counts: Record<BulkOutcome, number> = {
    changed: 0,
    unchanged: 0,
    unknown: 0,
    full: 0,
    refused: 0,
  };
  for (const { outcome } of devices) counts[outcome] += 1;
  return counts;
}
