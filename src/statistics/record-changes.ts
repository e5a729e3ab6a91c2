/**
 * Records every change of devices' tags beside their rows, in the same transaction and after them:
 * counts by tag and day, the versions of the groups, and the tags that a group may have.
 */

import { DEVICE_GROUP_KEY, SCOPE } from '../database/columns.ts';
import { integer, integers, rowsOf } from '../database/rows.ts';
import type { Fragment, Sql } from '../database/sql.ts';
import type { Scope } from '../domain/device.ts';
import type {
  DeviceGroupKey,
  DevicePlace,
  RaisedDeviceGroup,
  TagEdit,
} from '../domain/device-group-change.ts';
import { deviceGroupKeyOf, deviceGroupOf } from '../domain/device-group-change.ts';

interface TagGain extends DevicePlace {
  readonly gained: readonly number[];
}

export interface TagChange extends TagEdit {
  /** How many subscribers its app gains by it: 1 with its first tag, -1 with its last, else 0. */
  readonly subscribers: number;
}

/** `subscribers` of a device that had so many tags, and has so many now. */
export const subscribersBy = (tagsBefore: number, tagsAfter: number): number =>
  Math.sign(tagsAfter) - Math.sign(tagsBefore);

/** No tag has this id: under it tag_days counts the devices that have any tag. */
export const ANY_TAG = 0;

/** A group in which something changed, and the tags that its devices gained. */
export interface TouchedDeviceGroup extends DeviceGroupKey {
  /** In device_group_tags already, as of `knownEpoch`. */
  readonly knownTagIds: readonly number[];
  readonly knownEpoch: number;
  readonly newTagIds: readonly number[];
}

/** A group whose version was raised. The tags that a process remembers of it are of this epoch. */
export interface RaisedWithEpoch extends RaisedDeviceGroup {
  readonly tagsEpoch: number;
}

interface TagCount extends Scope {
  readonly tagId: number;
  gained: number;
  lost: number;
}

/** A statement of its own: counts the changes, raises the groups' versions, adds their tags. */
export async function recordChanges(
  tx: Sql,
  changes: readonly TagChange[],
  groups: readonly TouchedDeviceGroup[],
  slot: number,
): Promise<readonly RaisedDeviceGroup[]> {
  if (groups.length === 0) return [];
  return await tx<RaisedDeviceGroup[]>`
    with ${recording(tx, countsOf(changes), groups, slot)}
    ${RAISED(tx)}`;
}

/** A group with all tags that its devices gain. */
interface GroupGain {
  readonly group: DeviceGroupKey;
  readonly tagIds: ReadonlySet<number>;
}

/** The groups of the changes, and those that change in another way (`touched`), each once. */
export function gainsByGroup(
  changes: readonly TagGain[],
  touched: readonly DeviceGroupKey[] = [],
): readonly GroupGain[] {
  const groups = new Map<string, GroupGain & { readonly tagIds: Set<number> }>();
  const of = (group: DeviceGroupKey): Set<number> => {
    const key = deviceGroupKeyOf(group);
    const known = groups.get(key) ?? { group, tagIds: new Set() };
    groups.set(key, known);
    return known.tagIds;
  };
  for (const group of touched) of(group);
  for (const change of changes) {
    const tagIds = of(deviceGroupOf(change));
    for (const tagId of change.gained) tagIds.add(tagId);
  }
  return [...groups.values()];
}

/** The same. None of their tags count as known, so each gained tag is written if it is missing. */
export const touchedDeviceGroups = (
  changes: readonly TagGain[],
  touched: readonly DeviceGroupKey[] = [],
): readonly TouchedDeviceGroup[] =>
  gainsByGroup(changes, touched).map(({ group, tagIds }) => ({
    ...group,
    knownTagIds: [],
    knownEpoch: 0,
    newTagIds: [...tagIds],
  }));

/** Counts by tag, app and platform; an app's subscribers are under ANY_TAG. */
export function countsOf(changes: readonly TagChange[]): readonly TagCount[] {
  const counts = new Map<string, TagCount>();
  const of = (tagId: number, { appId, platformId }: DevicePlace): TagCount => {
    const key = `${tagId}.${appId}.${platformId}`;
    let count = counts.get(key);
    if (count === undefined) {
      count = { tagId, appId, platformId, gained: 0, lost: 0 };
      counts.set(key, count);
    }
    return count;
  };
  for (const change of changes) {
    for (const tagId of change.gained) of(tagId, change).gained += 1;
    for (const tagId of change.lost) of(tagId, change).lost += 1;
    if (change.subscribers > 0) of(ANY_TAG, change).gained += 1;
    if (change.subscribers < 0) of(ANY_TAG, change).lost += 1;
  }
  return [...counts.values()];
}

/**
 * Queries of a statement, without a comma at the end. Locks in the order of all writers: devices,
 * days, groups, each sorted. `after`: a condition that makes another query run first.
 */
export const recording = (
  tx: Sql,
  counts: readonly TagCount[],
  groups: readonly TouchedDeviceGroup[],
  slot: number,
  after: Fragment = tx``,
) => tx`
    days as (
      insert into tag_days (tag_id, app_id, platform_id, day, slot, subscribed, unsubscribed)
      select tag_id, app_id, platform_id, (now() at time zone 'utc')::date, ${slot}::smallint, gained, lost
      from ${counted(tx, counts)}
      ${after}
      order by tag_id, app_id, platform_id
      on conflict (tag_id, app_id, platform_id, day, slot) do update set
        subscribed = tag_days.subscribed + excluded.subscribed,
        unsubscribed = tag_days.unsubscribed + excluded.unsubscribed
      returning tag_id
    ),
    raised as (
      insert into device_groups (app_id, platform_id, group_number, version)
      select app_id, platform_id, group_number, 1
      from ${raisedGroups(tx, groups)}
      -- Always true: the days' rows are locked before the groups'.
      where (select count(*) from days) >= 0
      order by 1, 2, 3
      on conflict (app_id, platform_id, group_number) do update set version = device_groups.version + 1
      returning app_id, platform_id, group_number, version, tags_epoch
    ),
    written_tags as (
      insert into device_group_tags (app_id, platform_id, tag_id, group_number)
      select app_id, platform_id, tag_id, group_number
      from ${gainedTags(tx, gainedIn(groups))}
      -- Always true: the groups' rows are locked before their tags are looked at.
      where (select count(*) from raised) >= 0
      ${groups.some(({ knownTagIds }) => knownTagIds.length > 0) ? tx`union ${outdatedTags(tx, groups)}` : tx``}
      order by 1, 2, 3, 4
      on conflict do nothing
    )`;

const counted = rowsOf<TagCount>('counted', {
  tag_id: integer(({ tagId }) => tagId),
  ...SCOPE,
  gained: integer(({ gained }) => gained),
  lost: integer(({ lost }) => lost),
});

const raisedGroups = rowsOf<DeviceGroupKey>('touched', DEVICE_GROUP_KEY);

interface GainedTag extends DeviceGroupKey {
  readonly tagId: number;
}

const gainedIn = (groups: readonly TouchedDeviceGroup[]): readonly GainedTag[] =>
  groups.flatMap((group) => group.newTagIds.map((tagId) => ({ ...group, tagId })));

const gainedTags = rowsOf<GainedTag>('gained', {
  ...DEVICE_GROUP_KEY,
  tag_id: integer(({ tagId }) => tagId),
});

/** Known tags of groups that have another epoch now. Every plan looks them up in a hash. */
function outdatedTags(tx: Sql, groups: readonly TouchedDeviceGroup[]) {
  const withTags = groups.filter(({ knownTagIds }) => knownTagIds.length > 0);
  return tx`
      select app_id, platform_id, tag_id, group_number
      from ${known(tx, withTags)}
      cross join lateral unnest(known.tag_ids) as tag_id
      where (app_id, platform_id, group_number, epoch)
        not in (select app_id, platform_id, group_number, tags_epoch from raised)`;
}

const known = rowsOf<TouchedDeviceGroup>('known', {
  ...DEVICE_GROUP_KEY,
  epoch: integer(({ knownEpoch }) => knownEpoch),
  tag_ids: integers(({ knownTagIds }) => knownTagIds),
});

/** The answer of a statement with `recording`. */
export const RAISED = (tx: Sql) => tx`
    select app_id as "appId", platform_id as "platformId", group_number as "groupNumber", version, tags_epoch as "tagsEpoch"
    from raised`;
