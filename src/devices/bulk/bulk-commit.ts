/**
 * Commits one piece of a bulk operation: changes and progress in one transaction (decision 52).
 * Nothing is noted of the apps of these devices: none has spoken.
 */

import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { BulkChange, BulkCounts, BulkOutcome } from '../../domain/bulk-operation.ts';
import { lastOrdinalOf } from '../../domain/device.ts';
import { NO_ATTRIBUTES } from '../../domain/device-attributes.ts';
import type { DeviceGroupChange, DevicePlace } from '../../domain/device-group-change.ts';
import { changesOf } from '../../domain/device-group-change.ts';
import { touchedDeviceGroups } from '../../statistics/record-changes.ts';
import { BULK_SLOT } from '../../statistics/slots.ts';
import { subscribersOf } from '../change.ts';
import type { DeviceKey, Found, KnownDevice } from '../sql/find-devices.ts';
import { findDevices, lockDevices, NO_VALUES } from '../sql/find-devices.ts';
import type { TakenBulkOperation } from '../sql/take-piece.ts';
import {
  groupsWithMembers,
  membersInGroup,
  postponeBulkOperation,
  recordBulkPiece,
  takeBulkOperation,
} from '../sql/take-piece.ts';
import { writeBatch } from '../sql/write-batch.ts';
import { changeFacets } from './change-facets.ts';
import type { JudgedDevice } from './judge.ts';
import { judge } from './judge.ts';

/**
 * Registrations of these devices wait, on the embedded database all, for some tens of milliseconds.
 * @limit devices of a bulk operation in a transaction → the next one
 */
const DEVICES_MAX = 100;
/**
 * Each tag that is new to a group is a row more, written under the locks of the groups.
 * @limit their subscriptions → the next one
 */
const SUBSCRIPTIONS_MAX = 5_000;
/**
 * Groups that are searched for members in one transaction: some 10 ms of the database each.
 * @limit groups searched for its devices in a transaction → the next one
 */
const GROUPS_MAX = 20;
/**
 * An operation is worked on a fifth of the time, so it does less on a busy database.
 * @limit rest of a bulk operation after a transaction, in times of what it took
 */
const REST_FACTOR = 4;
/**
 * And at least this: with 100 devices of a piece, at most 2,000 a second.
 * @limit rest of a bulk operation after a transaction, at least
 */
const REST_MS_MIN = 50;
const REST = { factor: REST_FACTOR, msMin: REST_MS_MIN };
/**
 * An operation that failed is tried again after this time; those of other clients go on.
 * @limit a bulk operation that failed is tried again after
 */
const AGAIN_AFTER_MS = 10_000;

export interface BulkContext {
  readonly sql: SqlPool;
  readonly tagsPerDeviceMax: number;
}

export interface BulkPiece {
  readonly changes: readonly DeviceGroupChange[];
  /** For so long the operation, or the client's next one, is not due. */
  readonly restMs: number;
}

/** Null: no piece is due. */
export async function commitBulkPiece(context: BulkContext): Promise<BulkPiece | null> {
  let operationId: number | null = null;
  try {
    return await transact(context.sql, async (tx) => {
      const operation = await takeBulkOperation(tx, DEVICES_MAX, SUBSCRIPTIONS_MAX);
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
  if (operation.deviceFacets !== null) {
    const { counts, changes } = await changeFacets(tx, operation, devices);
    const restMs = await recordBulkPiece(tx, operation, { ...counts, after, isLast }, REST);
    return { changes, restMs };
  }
  // Without locks: what is as it should be is not locked.
  const found = await find(tx, operation, devices);
  const looked = devices.slice(0, found.lookedFor);
  const seen = await judge(tx, operation, looked, found.devices, tagsPerDeviceMax);
  const wanted = seen.filter(isChanged).map(({ device }) => device);
  const locked = wanted.length === 0 ? NONE : await lockDevices(tx, wanted, 0, NO_VALUES);
  const judged = await judge(tx, operation, wanted, locked.devices, tagsPerDeviceMax);
  const underLock = new Map(judged.map((device) => [device.device, device]));
  const ended = seen.map((device) => underLock.get(device.device) ?? device);
  const done = operation.memberOf === null ? ended : ended.slice(0, knownOf(ended));
  const changes = await write(tx, operation, done.filter(isChanged));
  const next = devices[done.length];
  const restMs = await recordBulkPiece(
    tx,
    operation,
    {
      ...countsOf(done),
      after: next === undefined ? after : placeBefore(next, operation.after),
      isLast: isLast && next === undefined,
    },
    REST,
  );
  return { changes, restMs };
}

/**
 * How many members there are before the first one that is not found by its key any more: its token
 * was replaced since it was read, or it was erased. The next piece reads it again, if it is there.
 */
const knownOf = (members: readonly JudgedDevice[]): number => {
  const at = members.findIndex(({ outcome }) => outcome === 'unknown');
  return at === -1 ? members.length : at;
};

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
 * In the order of ordinals. A device that compaction moves meanwhile may be met twice, which counts
 * once in a piece; the last piece is the one that finds no group any more.
 */
async function nextMembers(tx: Sql, operation: TakenBulkOperation): Promise<NextDevices> {
  const groups = await groupsWithMembers(tx, operation, GROUPS_MAX);
  if (groups.length === 0) return { devices: [], after: operation.after, isLast: true };
  const devices = new Map<string, DeviceKey & DevicePlace>();
  let { after } = operation;
  for (const group of groups) {
    const { appId, platformId, groupNumber } = group;
    const room = DEVICES_MAX - devices.size;
    const members = await membersInGroup(tx, operation, group, room);
    for (const member of members) {
      const key = `${appId}.${platformId}.${member.deviceKey}`;
      if (!devices.has(key)) devices.set(key, member);
    }
    after = { appId, platformId, ordinal: lastOrdinalOf(groupNumber) };
    const last = members.at(-1);
    if (last !== undefined && members.length === room) {
      after = { appId, platformId, ordinal: last.ordinal };
      break;
    }
  }
  return { devices: [...devices.values()], after, isLast: false };
}

/** Where the next piece begins, to begin with this device. A list goes by its keys. */
const placeBefore = (
  { appId, platformId, ordinal }: NextDevices['devices'][number],
  before: DevicePlace,
): DevicePlace => (ordinal === undefined ? before : { appId, platformId, ordinal: ordinal - 1 });

const find = async (
  tx: Sql,
  { isAppThere }: TakenBulkOperation,
  devices: readonly DeviceKey[],
): Promise<Found> => {
  if (devices.length === 0) return NONE;
  return isAppThere
    ? await findDevices(tx, devices, 0, NO_VALUES)
    : { devices: [], lookedFor: devices.length };
};

type Changed = JudgedDevice & { readonly known: KnownDevice };

const isChanged = (judged: JudgedDevice): judged is Changed =>
  judged.outcome === 'changed' && judged.known !== null;

async function write(
  tx: Sql,
  { subscribe }: BulkChange,
  devices: readonly Changed[],
): Promise<readonly DeviceGroupChange[]> {
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
      version: known.version,
      registers: false,
      // It is kept for DEVICE_RETENTION_DAYS from now, and an import that began before leaves it.
      unsubscribes: subscribe.length === 0,
      attributes: NO_ATTRIBUTES,
      tagIds: tags.tagIds,
    })),
    inserted: [],
    changes,
    groups: touchedDeviceGroups(changes),
    slot: BULK_SLOT,
  });
  return changesOf(raised, { tags: changes });
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
