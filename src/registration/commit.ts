/** One batch of operations, one transaction: the heart of group commit (docs/architecture.md, "Registration"). */

import { groupOf } from '../domain/device.ts';
import type { DeviceNote, DevicePlace, GroupChange } from '../domain/group-change.ts';
import { changesOf } from '../domain/group-change.ts';
import type { SubscribableTag } from '../store/catalogue/subscribable-tags.ts';
import { subscribableTags } from '../store/catalogue/subscribable-tags.ts';
import type { NewDevice } from '../store/devices/insert-devices.ts';
import { insertDevices } from '../store/devices/insert-devices.ts';
import { lockDevices } from '../store/devices/lock-devices.ts';
import { raiseGroups } from '../store/devices/raise-groups.ts';
import type { PlatformOfApp } from '../store/devices/reserve-ordinals.ts';
import { updateDevices } from '../store/devices/update-devices.ts';
import type { Sql, SqlPool } from '../store/sql.ts';
import type {
  SubscriptionChanges,
  SubscriptionRow,
} from '../store/subscriptions/change-subscriptions.ts';
import { changeSubscriptions } from '../store/subscriptions/change-subscriptions.ts';
import { transact } from '../store/transact.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';
import type { ChangedDevice, DeviceOperations, DeviceResult } from './batch.ts';
import { keyOf } from './batch.ts';
import { fold } from './change.ts';
import type { Ordinals } from './ordinals.ts';
import { limitTags } from './tag-limit.ts';

export interface CommitContext {
  readonly sql: SqlPool;
  readonly ordinals: Ordinals;
  readonly feed: IndexFeed;
  readonly tagsPerDeviceMax: number;
  /** Of tag_days: the lane's number. */
  readonly slot: number;
}

/**
 * Ordinals of new devices by key, kept when the transaction is tried again: the one before is rolled back for certain, and
 * the stock was filled for one try only.
 */
type GivenOrdinals = Map<string, number>;

export interface Committed {
  /** Of each device, in its place. */
  readonly results: readonly DeviceResult[];
  readonly changes: readonly GroupChange[];
}

/** Commits, or throws and has done nothing. */
export async function commitDevices(
  context: CommitContext,
  devices: readonly DeviceOperations[],
): Promise<Committed> {
  await provideOrdinals(context.ordinals, devices);
  const given: GivenOrdinals = new Map();
  return transact(context.sql, async (tx) => {
    const [tags, known] = await Promise.all([
      subscribableTags(tx, tagsAskedFor(devices)),
      lockDevices(tx, devices),
    ]);
    const changed = foldDevices(devices, tags);
    for (const { index, ordinal } of known) {
      const device = changed[index];
      if (device !== undefined) device.ordinal = ordinal;
    }
    const made = await writeDevices(tx, context.ordinals, given, changed);
    const forgiven = forgivenNotes(changed, known);
    await limitTags(tx, changed, context.tagsPerDeviceMax);
    const wanted = subscriptionChanges(changed);
    const done = await changeSubscriptions(tx, wanted, context.slot);
    const touched = [...made, ...forgiven].map((device) => ({
      ...device,
      groupNumber: groupOf(device.ordinal),
    }));
    const raised = await raiseGroups(tx, [...touched, ...done.groups]);
    return {
      results: changed.map((device) => device.result),
      changes: changesOf(raised, {
        tokens: made,
        added: without(wanted.added, done.refused),
        removed: [...wanted.removed, ...done.cleared],
        notes: forgiven,
      }),
    };
  });
}

/** Before the transaction, for every device that may turn out to be new. */
async function provideOrdinals(
  ordinals: Ordinals,
  devices: readonly DeviceOperations[],
): Promise<void> {
  const needs = new Map<string, PlatformOfApp & { count: number }>();
  for (const { appId, platformId, operations } of devices) {
    if (operations.every(({ kind }) => kind === 'ureg')) continue;
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
  return devices.map((device) => {
    const change = fold(device.operations, (tagId) => {
      const tag = tagById.get(tagId);
      return tag !== undefined && (tag.appIds === null || tag.appIds.includes(device.appId));
    });
    return { ...device, change, ordinal: null, result: 'committed' };
  });
}

/** Writes the rows of devices and answers the new ones. */
async function writeDevices(
  tx: Sql,
  ordinals: Ordinals,
  given: GivenOrdinals,
  changed: readonly ChangedDevice[],
): Promise<readonly (DevicePlace & { readonly deviceId: string })[]> {
  const known = changed.flatMap(({ change, ordinal, appId, platformId }) =>
    ordinal === null ? [] : [{ ...change, appId, platformId, ordinal }],
  );
  const fresh = changed.filter(({ change, ordinal }) => ordinal === null && change.registers);
  const [, inserted] = await Promise.all([
    updateDevices(
      tx,
      known.filter(({ registers, unsubscribes }) => registers || unsubscribes),
    ),
    insertDevices(tx, withOrdinals(ordinals, given, fresh)),
  ]);
  const ordinalByKey = new Map(inserted.map((device) => [keyOf(device), device.ordinal]));
  for (const device of fresh) device.ordinal = ordinalByKey.get(keyOf(device)) ?? null;
  return fresh.flatMap(({ appId, platformId, deviceId, ordinal }) =>
    ordinal === null ? [] : [{ appId, platformId, deviceId, ordinal }],
  );
}

/** Who registers is no stranger any more (updateDevices), which an index has to hear. Hardly any was refused before. */
function forgivenNotes(
  changed: readonly ChangedDevice[],
  known: readonly ({ readonly index: number; readonly ordinal: number } & DeviceNote)[],
): readonly (DevicePlace & { readonly note: DeviceNote })[] {
  return known.flatMap(({ index, ordinal, refusals, environment }) => {
    const device = changed[index];
    if (refusals === 0 || !device?.change.registers) return [];
    const { appId, platformId } = device;
    return [{ appId, platformId, ordinal, note: { refusals: 0, environment } }];
  });
}

function withOrdinals(
  ordinals: Ordinals,
  given: GivenOrdinals,
  devices: readonly ChangedDevice[],
): readonly NewDevice[] {
  const numbered: NewDevice[] = [];
  for (const device of devices) {
    const ordinal = given.get(keyOf(device)) ?? ordinals.take(device);
    if (ordinal === null) {
      device.result = 'limit';
      continue;
    }
    given.set(keyOf(device), ordinal);
    const { appId, platformId, deviceKey, deviceId, change } = device;
    const { unsubscribes, appVersion } = change;
    numbered.push({ appId, platformId, deviceKey, deviceId, unsubscribes, appVersion, ordinal });
  }
  return numbered;
}

function subscriptionChanges(changed: readonly ChangedDevice[]): SubscriptionChanges {
  const added: SubscriptionRow[] = [];
  const removed: SubscriptionRow[] = [];
  const cleared: Omit<SubscriptionRow, 'tagId'>[] = [];
  for (const { appId, platformId, ordinal, change } of changed) {
    if (ordinal === null) continue;
    for (const tagId of change.add) added.push({ appId, platformId, ordinal, tagId });
    for (const tagId of change.remove) removed.push({ appId, platformId, ordinal, tagId });
    if (change.clear) cleared.push({ appId, platformId, ordinal });
  }
  return { added, removed, cleared };
}

/** Hardly ever is any tag refused here: it would have to go between two statements of the transaction. */
function without(
  rows: readonly SubscriptionRow[],
  refused: readonly SubscriptionRow[],
): readonly SubscriptionRow[] {
  if (refused.length === 0) return rows;
  const nameOf = ({ appId, platformId, ordinal, tagId }: SubscriptionRow): string =>
    `${appId}.${platformId}.${ordinal}.${tagId}`;
  const names = new Set(refused.map(nameOf));
  return rows.filter((row) => !names.has(nameOf(row)));
}
