/**
 * Commits one batch of imported devices in one transaction; an app's own data wins over a file's.
 */

import type { SubscribableTag } from '../../catalogue/subscribable-tags.ts';
import { livingTags, subscribableTags } from '../../catalogue/subscribable-tags.ts';
import type { SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { latestAttributes } from '../../domain/device-attributes.ts';
import type { DeviceGroupChange, DevicePlace } from '../../domain/device-group-change.ts';
import { changesOf, deviceGroupOf } from '../../domain/device-group-change.ts';
import type { TagChange } from '../../statistics/record-changes.ts';
import { recordChanges, touchedDeviceGroups } from '../../statistics/record-changes.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import { keyOf } from '../batch.ts';
import type { TagsAfter } from '../change.ts';
import { subscribersOf, tagsAfter, tagsAfterMakingRoom } from '../change.ts';
import type { FacetsAfter } from '../facets.ts';
import { NO_FACETS } from '../facets.ts';
import type { NumbersAfter } from '../numbers.ts';
import { NO_NUMBERS } from '../numbers.ts';
import type { Ordinals } from '../ordinals.ts';
import { againIfChangedSince } from '../sql/changed-since.ts';
import type { KnownImported } from '../sql/import-devices.ts';
import { lockImported, updateImported } from '../sql/import-devices.ts';
import { insertDevices } from '../sql/insert-devices.ts';
import type { ImportedOperation, ImportResult } from './imported.ts';
import { facetsOfImport, numbersOfImport } from './imported-values.ts';

/** A device, with all that the batch says of it, and its result. */
interface ImportedDevice {
  readonly operation: ImportedOperation;
  readonly tags: TagsAfter;
  readonly facets: FacetsAfter;
  readonly numbers: NumbersAfter;
  /** Null: it is new, and the app may have no more devices. */
  readonly ordinal: number | null;
  readonly isNew: boolean;
  readonly result: ImportResult;
}

export interface ImportContext {
  readonly sql: SqlPool;
  readonly feed: IndexFeed;
  readonly ordinals: Ordinals;
  readonly tagsPerDeviceMax: number;
  /** Slot of tag_days that the lane writes. */
  readonly slot: number;
}

interface CommittedImport {
  readonly results: readonly ImportResult[];
  readonly changes: readonly DeviceGroupChange[];
}

/** Commits, or throws: then all or nothing of it is committed. */
export async function commitImported(
  context: ImportContext,
  operations: readonly ImportedOperation[],
): Promise<CommittedImport> {
  const merged = mergeByDevice(operations);
  // For all devices, because each may turn out to be new.
  await context.ordinals.provideFor(merged.map(({ device }) => device));
  // Kept for further tries of the transaction: the stock was filled for one try only.
  const given = new Map<string, number>();
  const { devices, changes } = await againIfChangedSince(() => commitOnce(context, merged, given));
  const results = new Map(
    devices.map(({ operation, result }) => [keyOf(operation.device), result]),
  );
  return {
    results: operations.map(({ device }) => results.get(keyOf(device)) ?? 'unavailable'),
    changes,
  };
}

const commitOnce = (
  { sql, ordinals, tagsPerDeviceMax, slot }: ImportContext,
  merged: readonly ImportedOperation[],
  given: Map<string, number>,
) =>
  transact(sql, async (tx) => {
    const known = await lockImported(
      tx,
      merged.map((operation) => ({
        ...operation.device,
        sinceMs: operation.startedAtMs,
        // An unknown time is no later one.
        registeredAtMs: Math.min(operation.registeredAtMs ?? 0, operation.startedAtMs),
      })),
    );
    // After the locks, to see commits of other transactions during the wait for them.
    const subscribable = await subscribableTags(tx, [
      ...new Set(merged.flatMap(({ tagIds }) => tagIds)),
    ]);
    const knownAt = new Map(known.map((device) => [device.index, device]));
    const tagById = new Map(subscribable.map((tag) => [tag.id, tag]));
    const living = new Set(await livingTags(tx, tagsOfFull(known, merged, tagsPerDeviceMax)));
    const facetsOf = await facetsOfImport(tx, merged, known);
    const devices = merged.map((operation, at): ImportedDevice => {
      const add = operation.tagIds.filter((tagId) => isWelcome(tagById.get(tagId), operation));
      const device = knownAt.get(at);
      const values = {
        facets: facetsOf(at, device),
        numbers: numbersOfImport(operation, device),
      };
      return device === undefined
        ? {
            ...newDevice(operation, add, take(ordinals, given, operation), tagsPerDeviceMax),
            ...values,
          }
        : { ...knownDevice(operation, add, device, tagsPerDeviceMax, living), ...values };
    });
    const written = devices.filter(({ ordinal }) => ordinal !== null);
    await updateImported(tx, written.filter(({ isNew }) => !isNew).map(rowOf));
    const added = written.filter(({ isNew }) => isNew);
    // Fails (`wasChangedSince`) when another transaction has made one of them since the look-up.
    if (added.length > 0) await insertDevices(tx, added.map(rowOf));
    const tagChanges = written.map(tagChangeOf).filter(hasChanged);
    const tokens = written
      .filter(({ isNew }) => isNew)
      .map((device) => ({ ...placeOf(device), deviceId: device.operation.device.deviceId }));
    const facetEdits = written.filter(({ facets }) => hasChanged(facets)).map(facetEditOf);
    const touched = [...tokens, ...facetEdits].map(deviceGroupOf);
    const groups = touchedDeviceGroups(tagChanges, touched);
    const raised = await recordChanges(tx, tagChanges, groups, slot);
    // To an index a facet is as a tag.
    const tags = [...tagChanges, ...facetEdits];
    return { devices, changes: changesOf(raised, { tokens, tags }) };
  });

const tagsOfFull = (
  known: readonly KnownImported[],
  merged: readonly ImportedOperation[],
  tagsMax: number,
): readonly number[] => {
  const full = known.filter(
    ({ index, tagIds }) => tagIds.length + (merged[index]?.tagIds.length ?? 0) > tagsMax,
  );
  return [...new Set(full.flatMap(({ tagIds }) => tagIds))];
};

/** Hardly ever false: the tag would have to be deleted or disconnected during the import. */
const isWelcome = (tag: SubscribableTag | undefined, { device }: ImportedOperation): boolean =>
  tag !== undefined && (tag.appIds === null || tag.appIds.includes(device.appId));

/** A file may name a device twice, but a statement cannot change a row twice. */
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
  attributes: latestAttributes(before.attributes, after.attributes),
  registeredAtMs: laterOf(before.registeredAtMs, after.registeredAtMs),
  tagIds: after.replacesTags ? after.tagIds : [...before.tagIds, ...after.tagIds],
  facets: before.facets === NO_FACETS ? after.facets : new Map([...before.facets, ...after.facets]),
  numbers:
    before.numbers === NO_NUMBERS ? after.numbers : new Map([...before.numbers, ...after.numbers]),
});

const laterOf = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.max(a, b);

function newDevice(
  operation: ImportedOperation,
  add: readonly number[],
  ordinal: number | null,
  tagsMax: number,
): WithoutValues {
  const tags = tagsAfter([], { clear: true, add: new Set(add), remove: new Set() }, tagsMax);
  const added = tags.isLimited ? 'tags-limited' : 'added';
  return { operation, tags, ordinal, isNew: true, result: ordinal === null ? 'limit' : added };
}

/** Keeps the changes that the app has made since the import began. */
function knownDevice(
  operation: ImportedOperation,
  add: readonly number[],
  { ordinal, tagIds, hasRegistered, hasUnsubscribed }: KnownImported,
  tagsMax: number,
  living: ReadonlySet<number>,
): WithoutValues {
  const { replacesTags } = operation;
  const isKept = hasUnsubscribed || (replacesTags && hasRegistered);
  const change = isKept
    ? { clear: false, add: new Set<number>(), remove: new Set<number>() }
    : { clear: replacesTags, add: new Set(add), remove: new Set<number>() };
  const tags = tagsAfterMakingRoom(tagIds, change, tagsMax, living);
  const merged = tags.isLimited ? 'tags-limited' : 'merged';
  return { operation, tags, ordinal, isNew: false, result: isKept ? 'kept' : merged };
}

type WithoutValues = Omit<ImportedDevice, 'facets' | 'numbers'>;

/** Gives an ordinal to a new device, if the app may have one more. */
function take(
  ordinals: Ordinals,
  given: Map<string, number>,
  { device }: ImportedOperation,
): number | null {
  const key = keyOf(device);
  const ordinal = given.get(key) ?? ordinals.take(device);
  if (ordinal !== null) given.set(key, ordinal);
  return ordinal;
}

/**
 * An unknown time becomes the beginning of time: a provider's report counts only if later. A device
 * without tags gets no sends, so it is kept as if registered today.
 */
function registeredAtOf({ registeredAtMs, startedAtMs, tagIds }: ImportedOperation): number {
  const atMs = registeredAtMs ?? (tagIds.length > 0 ? 0 : startedAtMs);
  return Math.min(atMs, startedAtMs);
}

const hasChanged = ({ gained, lost }: Pick<FacetsAfter, 'gained' | 'lost'>): boolean =>
  gained.length + lost.length > 0;

function rowOf({ operation, ordinal, tags, facets, numbers }: ImportedDevice) {
  const { device, attributes } = operation;
  return {
    ...device,
    attributes,
    registeredAtMs: registeredAtOf(operation),
    unsubscribes: false,
    ordinal: ordinal ?? 0,
    tagIds: tags.tagIds,
    facetIds: hasChanged(facets) ? facets.facetIds : null,
    numbers: numbers.isChanged ? numbers.numbers : null,
  };
}

const facetEditOf = (device: ImportedDevice) => ({
  ...placeOf(device),
  gained: device.facets.gained,
  lost: device.facets.lost,
});

const placeOf = ({ operation: { device }, ordinal }: ImportedDevice): DevicePlace => ({
  appId: device.appId,
  platformId: device.platformId,
  ordinal: ordinal ?? 0,
});

const tagChangeOf = (device: ImportedDevice): TagChange => ({
  ...placeOf(device),
  gained: device.tags.gained,
  lost: device.tags.lost,
  subscribers: subscribersOf(device.tags),
});
