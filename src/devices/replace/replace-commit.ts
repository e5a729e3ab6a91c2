/** Replaces a token in one transaction: all tags move to another deviceId, or nothing changes. */

import { attributesOfFacets } from '../../attributes/attributes-of-facets.ts';
import { livingAttributes } from '../../attributes/living-attributes.ts';
import { livingTags } from '../../catalogue/subscribable-tags.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { FacetId } from '../../domain/attributes.ts';
import type { WithAttributes } from '../../domain/device-attributes.ts';
import { latestAttributes } from '../../domain/device-attributes.ts';
import type {
  DeviceGroupChange,
  DeviceHistory,
  DevicePlace,
} from '../../domain/device-group-change.ts';
import { changesOf, deviceGroupOf } from '../../domain/device-group-change.ts';
import type { NumberEntry } from '../../domain/device-numbers.ts';
import { attributeOfEntry } from '../../domain/device-numbers.ts';
import {
  recordChanges,
  subscribersBy,
  touchedDeviceGroups,
} from '../../statistics/record-changes.ts';
import { REPLACING_SLOT } from '../../statistics/slots.ts';
import { raiseDeviceGroups } from '../../tag-index/groups/raise-device-groups.ts';
import { recordReplacedTokens } from '../../webhooks/record-events.ts';
import { recordReplaced } from '../../webhooks/record-removals.ts';
import { tagsAfter } from '../change.ts';
import { deleteDevices } from '../erase-devices.ts';
import type { FacetsAfter, WantedFacets } from '../facets.ts';
import { facetsAfter, facetsOfBoth, NO_FACETS, SAME_FACETS } from '../facets.ts';
import { livingWanted } from '../living-wanted.ts';
import type { WantedNumbers } from '../numbers.ts';
import { NO_NUMBERS, numbersAfter, numbersOfBoth } from '../numbers.ts';
import type { DeviceRef } from '../operation.ts';
import { againIfChangedSince } from '../sql/changed-since.ts';
import type { LockedToReplace } from '../sql/replace-device.ts';
import { lockPair, moveDevice, notePlaceOfMerged, writeMerged } from '../sql/replace-device.ts';

export interface Replacement extends WithAttributes {
  readonly device: DeviceRef;
  readonly by: DeviceRef;
  /** Absent: nothing is said of them. */
  readonly facets?: WantedFacets;
  readonly numbers?: WantedNumbers;
}

type ReplaceOutcome =
  /** The new deviceId was unknown: the device goes on under it. */
  | 'moved'
  /** Both existed: the new one has the tags of the old one, which is deleted. */
  | 'merged'
  /** Only the new one exists, or both are the same: it was done before. */
  | 'unchanged'
  /** Neither exists. */
  | 'unknown';

export interface Replaced {
  readonly outcome: ReplaceOutcome;
  /** Whether tags were lost because the device has `tagsMax`. */
  readonly isTagsLimited: boolean;
  readonly changes: readonly DeviceGroupChange[];
}

/** Commits, or throws: then it may be repeated. If committed before, it answers `unchanged`. */
export const commitReplacement = (
  sql: SqlPool,
  replacement: Replacement,
  tagsMax: number,
): Promise<Replaced> =>
  againIfChangedSince(() => transact(sql, (tx) => replace(tx, replacement, tagsMax)));

async function replace(tx: Sql, replacement: Replacement, tagsMax: number): Promise<Replaced> {
  const { device, by } = replacement;
  const pair = await lockPair(tx, device, by.deviceKey);
  if (device.deviceKey === by.deviceKey) {
    return unchanged(pair.old === null ? 'unknown' : 'unchanged');
  }
  if (pair.old === null) return unchanged(pair.new === null ? 'unknown' : 'unchanged');
  return pair.new === null
    ? await move(tx, replacement, pair.old)
    : await merge(tx, replacement, pair.old, pair.new, tagsMax);
}

/** For the history of devices, and for webhooks, before the row of the old token is another. */
async function recordOld(tx: Sql, place: DevicePlace, by: DeviceRef): Promise<void> {
  await Promise.all([
    recordReplaced(tx, [place]),
    recordReplacedTokens(tx, [{ ...place, newDeviceId: by.deviceId }]),
  ]);
}

const unchanged = (outcome: 'unchanged' | 'unknown'): Replaced => ({
  outcome,
  isTagsLimited: false,
  changes: [],
});

const NO_HISTORY: DeviceHistory = { refusals: 0, environment: null };

/** The ordinal stays, and with it all data of the device, except the notes about the old token. */
async function move(
  tx: Sql,
  { device, by, attributes, facets = NO_FACETS, numbers = NO_NUMBERS }: Replacement,
  { ordinal, facetIds, numbers: had }: LockedToReplace,
): Promise<Replaced> {
  const { appId, platformId } = device;
  const { deviceKey, deviceId } = by;
  const place = { appId, platformId, ordinal };
  await recordOld(tx, place, by);
  const after = await facetsMoved(tx, facetIds, facets);
  const hasChanged = after.gained.length + after.lost.length > 0;
  const values = numbersAfter(had, numbers);
  await moveDevice(tx, place, {
    deviceKey,
    deviceId,
    attributes,
    facetIds: hasChanged ? after.facetIds : null,
    numbers: values.isChanged ? values.numbers : null,
  });
  const raised = await raiseDeviceGroups(tx, [deviceGroupOf(place)]);
  const edits = {
    tokens: [{ ...place, deviceId }],
    tags: [{ ...place, gained: after.gained, lost: after.lost }],
    histories: [{ ...place, history: NO_HISTORY }],
  };
  return { outcome: 'moved', isTagsLimited: false, changes: changesOf(raised, edits) };
}

/**
 * Deleted tags are not taken over. Only tags that the new device does not gain count as
 * unsubscribed; and a subscriber, unless the new device becomes one.
 */
async function merge(
  tx: Sql,
  { device: { appId, platformId }, by, attributes, ...given }: Replacement,
  old: LockedToReplace,
  fresh: LockedToReplace,
  tagsMax: number,
): Promise<Replaced> {
  const gone = { appId, platformId, ordinal: old.ordinal };
  const stays = { appId, platformId, ordinal: fresh.ordinal };
  const add = new Set(await livingTags(tx, old.tagIds));
  const { tagIds, gained, isLimited } = tagsAfter(fresh.tagIds, { ...NOTHING_LOST, add }, tagsMax);
  const attributeOf = await attributeIn(tx, [...old.facetIds, ...fresh.facetIds]);
  const both = facetsOfBoth(fresh.facetIds, old.facetIds, attributeOf);
  const facets = facetsAfter(
    both.facetIds,
    await livingOne(tx, given.facets ?? NO_FACETS),
    attributeOf,
  );
  const numbers = numbersOfBoth(fresh.numbers, await livingNumbers(tx, old.numbers));
  const values = numbersAfter(numbers, given.numbers ?? NO_NUMBERS);
  await writeMerged(tx, stays, {
    attributes: latestAttributes(latestAttributes(old.attributes, fresh.attributes), attributes),
    tagIds,
    facetIds: facets.facetIds,
    numbers: values.isChanged ? values.numbers : numbers,
    registeredOn: earlier(old.registeredOn, fresh.registeredOn),
  });
  await recordOld(tx, gone, by);
  await notePlaceOfMerged(tx, gone, stays.ordinal);
  await deleteDevices(tx, [gone]);
  const lost = old.tagIds.filter((tagId) => !gained.includes(tagId));
  const subscribers =
    subscribersBy(old.tagIds.length, 0) + subscribersBy(fresh.tagIds.length, tagIds.length);
  const change = { ...gone, gained: [], lost, subscribers };
  const groups = touchedDeviceGroups([{ ...stays, gained }], [deviceGroupOf(gone)]);
  const raised = await recordChanges(tx, [change], groups, REPLACING_SLOT);
  const changes = changesOf(raised, {
    tokens: [{ ...gone, deviceId: null }],
    tags: [
      {
        ...stays,
        gained: [...gained, ...without(facets.facetIds, fresh.facetIds)],
        lost: without(fresh.facetIds, facets.facetIds),
      },
      { ...gone, gained: [], lost: [...old.tagIds, ...old.facetIds] },
    ],
    histories: [{ ...stays, history: { refusals: 0, environment: fresh.environment } }],
  });
  return { outcome: 'merged', isTagsLimited: isLimited, changes };
}

/** Most apps say nothing of attributes here. */
async function facetsMoved(
  tx: Sql,
  facetIds: readonly FacetId[],
  given: WantedFacets,
): Promise<FacetsAfter> {
  if (given.size === 0) return SAME_FACETS;
  return facetsAfter(facetIds, await livingOne(tx, given), await attributeIn(tx, facetIds));
}

/** The attribute of each of these facets. */
async function attributeIn(
  tx: Sql,
  facetIds: readonly FacetId[],
): Promise<(facetId: FacetId) => number | undefined> {
  const attributes = await attributesOfFacets(tx, facetIds);
  return (facetId) => attributes.get(facetId);
}

/** Leaves out those of deleted attributes: housekeeping may have passed the row they come to. */
async function livingNumbers(
  tx: Sql,
  numbers: readonly NumberEntry[],
): Promise<readonly NumberEntry[]> {
  if (numbers.length === 0) return numbers;
  const living = await livingAttributes(tx, numbers.map(attributeOfEntry));
  return numbers.filter((entry) => living.has(attributeOfEntry(entry)));
}

const livingOne = async (tx: Sql, wanted: WantedFacets): Promise<WantedFacets> =>
  (await livingWanted(tx, [wanted]))[0] ?? wanted;

const without = (facetIds: readonly FacetId[], others: readonly FacetId[]): readonly FacetId[] =>
  facetIds.filter((facetId) => !others.includes(facetId));

/** A day that is not known is before all that are. */
function earlier(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return null;
  return one < other ? one : other;
}

const NOTHING_LOST = { clear: false, remove: new Set<number>() };
