/** One batch of operations, one transaction: the heart of group commit (docs/architecture.md, "Registration"). */

import type { SubscribableTag } from '../store/catalogue/subscribable-tags.ts';
import { subscribableTags } from '../store/catalogue/subscribable-tags.ts';
import { lockDevices } from '../store/devices/lock-devices.ts';
import type { PlatformOfApp } from '../store/devices/reserve-ordinals.ts';
import type { Batch, Written } from '../store/devices/write-batch.ts';
import { writeBatch } from '../store/devices/write-batch.ts';
import type { Line } from '../store/line.ts';
import type { Sql } from '../store/sql.ts';
import type { ChangedDevice, DeviceOperations, DeviceResult } from './batch.ts';
import { keyOf } from './batch.ts';
import { fold } from './change.ts';
import type { Ordinals } from './ordinals.ts';
import { limitTags } from './tag-limit.ts';

export interface CommitContext {
  readonly line: Line;
  readonly ordinals: Ordinals;
  readonly tagsPerDeviceMax: number;
  /** Of tag_days: the lane's number. */
  readonly slot: number;
}

/** A transaction that is durable: what the tag index needs to follow it. */
interface Committed {
  readonly changed: readonly ChangedDevice[];
  readonly written: Written;
}

/**
 * Ordinals of new devices by key, kept when the transaction is tried again: the one before is rolled back for certain, and
 * the stock was filled for one try only.
 */
type GivenOrdinals = Map<string, number>;

/** Commits, or throws and has not done all of it. Answers each device in its place. */
export async function commitDevices(
  context: CommitContext,
  devices: readonly DeviceOperations[],
): Promise<readonly DeviceResult[]> {
  const results = new Map<DeviceOperations, DeviceResult>();
  let left = devices;
  while (left.length > 0) {
    const committed = await commitOnce(context, left);
    const made = devicesMade(committed);
    for (const [index, device] of left.entries()) {
      const changed = committed.changed[index];
      if (changed !== undefined && !made.has(changed)) results.set(device, changed.result);
    }
    // Another node has made them while this transaction was under way: the next one finds them, and locks them.
    left = made.size === 0 ? [] : left.filter((device) => !results.has(device));
  }
  return devices.map((device) => results.get(device) ?? 'committed');
}

/** Two round trips: what is there, and everything that is written. */
async function commitOnce(
  { line, ordinals, tagsPerDeviceMax, slot }: CommitContext,
  devices: readonly DeviceOperations[],
): Promise<Committed> {
  await provideOrdinals(ordinals, devices);
  const given: GivenOrdinals = new Map();
  return line.transact(
    async (tx) => {
      const [known, tags] = await Promise.all([
        lockDevices(
          tx,
          devices.map(({ device }) => device),
        ),
        subscribableTags(tx, tagsAskedFor(devices)),
      ]);
      const changed = foldDevices(devices, tags);
      for (const { index, ordinal } of known) {
        const device = changed[index];
        if (device !== undefined) device.ordinal = ordinal;
      }
      for (const device of changed) {
        if (device.ordinal === null && device.change.registers) number(device, ordinals, given);
      }
      await limitTags(tx, changed, tagsPerDeviceMax);
      return changed;
    },
    async (tx, changed) => ({ changed, written: await write(tx, changed, slot) }),
  );
}

/** Before the transaction, for every device that may turn out to be new. */
async function provideOrdinals(
  ordinals: Ordinals,
  devices: readonly DeviceOperations[],
): Promise<void> {
  const needs = new Map<string, PlatformOfApp & { count: number }>();
  for (const { device, operations } of devices) {
    if (operations.every(({ kind }) => kind === 'ureg')) continue;
    const { appId, platformId } = device;
    const key = `${appId}.${platformId}`;
    const need = needs.get(key);
    if (need === undefined) needs.set(key, { appId, platformId, count: 1 });
    else need.count += 1;
  }
  for (const need of needs.values()) await ordinals.provide(need, need.count);
}

function tagsAskedFor(devices: readonly DeviceOperations[]): readonly number[] {
  const tagIds = new Set<number>();
  for (const { operations } of devices) {
    for (const operation of operations) {
      if (operation.kind === 'ureg') continue;
      for (const tagId of operation.tagIds) tagIds.add(tagId);
    }
  }
  return [...tagIds];
}

function foldDevices(
  devices: readonly DeviceOperations[],
  tags: readonly SubscribableTag[],
): readonly ChangedDevice[] {
  const tagById = new Map(tags.map((tag) => [tag.id, tag]));
  return devices.map(({ device, operations }) => {
    const change = fold(operations, (tagId) => {
      const tag = tagById.get(tagId);
      return tag !== undefined && (tag.appIds === null || tag.appIds.includes(device.appId));
    });
    return { device, operations, change, ordinal: null, isNew: false, result: 'committed' };
  });
}

/** Gives a device that is not there its ordinal, or the answer that there is none. */
function number(device: ChangedDevice, ordinals: Ordinals, given: GivenOrdinals): void {
  const key = keyOf(device.device);
  const ordinal = given.get(key) ?? ordinals.take(device.device);
  if (ordinal === null) {
    device.result = 'limit';
    return;
  }
  given.set(key, ordinal);
  device.ordinal = ordinal;
  device.isNew = true;
}

type Rows = { -readonly [Part in keyof Omit<Batch, 'slot'>]: Batch[Part][number][] };

function write(tx: Sql, changed: readonly ChangedDevice[], slot: number): Promise<Written> {
  const rows: Rows = { updated: [], inserted: [], first: [], added: [], removed: [], cleared: [] };
  for (const { device, change, ordinal, isNew } of changed) {
    if (ordinal === null) continue;
    const { appId, platformId } = device;
    const { add, remove, registers, unsubscribes, appVersion } = change;
    const subscriptions = isNew ? rows.first : rows.added;
    for (const tagId of add) subscriptions.push({ appId, platformId, ordinal, tagId });
    if (isNew) {
      const { deviceKey, deviceId } = device;
      const row = { appId, platformId, ordinal, deviceKey, deviceId, unsubscribes, appVersion };
      rows.inserted.push(row);
      continue;
    }
    if (registers || unsubscribes) {
      rows.updated.push({ appId, platformId, ordinal, registers, unsubscribes, appVersion });
    }
    for (const tagId of remove) rows.removed.push({ appId, platformId, ordinal, tagId });
    if (change.clear) rows.cleared.push({ appId, platformId, ordinal });
  }
  return writeBatch(tx, { ...rows, slot });
}

/** The devices that this transaction was to make and that another node has made. */
function devicesMade({ changed, written: { made } }: Committed): ReadonlySet<ChangedDevice> {
  if (made.length === 0) return new Set();
  return new Set(
    changed.filter(({ device, ordinal }) =>
      made.some(
        (other) =>
          other.ordinal === ordinal &&
          other.appId === device.appId &&
          other.platformId === device.platformId,
      ),
    ),
  );
}
