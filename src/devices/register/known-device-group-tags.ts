/**
 * Remembers which tags groups have in the database: almost every tag that a registration adds is
 * there, and a look-up of each costs more than the rest of the row.
 */

import { CappedMap } from '../../../packages/std/src/capped-map.ts';
import type { DeviceGroupKey } from '../../domain/device-group-change.ts';
import { deviceGroupKeyOf } from '../../domain/device-group-change.ts';
import type { RaisedWithEpoch, TouchedDeviceGroup } from '../../statistics/record-changes.ts';

/**
 * Some 4 MB. New devices come into few groups; other groups cost a look-up.
 * @limit tags of groups that a process remembers as written → those of the groups written longest
 * ago are dropped: the database looks up each
 */
const TAGS_MAX = 100_000;

interface Known {
  readonly epoch: number;
  readonly tagIds: Set<number>;
}

export class KnownDeviceGroupTags {
  /** Weighed by their tags: the groups written longest ago are forgotten. */
  readonly #groups = new CappedMap<string, Known>({ weightMax: TAGS_MAX });

  /** Splits the tags that a group gains into known and new ones. */
  split(group: DeviceGroupKey, tagIds: Iterable<number>): TouchedDeviceGroup {
    const known = this.#groups.get(deviceGroupKeyOf(group));
    const knownTagIds: number[] = [];
    const newTagIds: number[] = [];
    for (const tagId of tagIds) (known?.tagIds.has(tagId) ? knownTagIds : newTagIds).push(tagId);
    return { ...group, knownTagIds, knownEpoch: known?.epoch ?? 0, newTagIds };
  }

  /** Learns from a committed transaction that raised these groups and wrote those tags. */
  learn(groups: readonly TouchedDeviceGroup[], raised: readonly RaisedWithEpoch[]): void {
    const epochs = new Map(raised.map((group) => [deviceGroupKeyOf(group), group.tagsEpoch]));
    for (const { knownTagIds, newTagIds, ...group } of groups) {
      const key = deviceGroupKeyOf(group);
      const epoch = epochs.get(key);
      if (epoch === undefined) continue;
      const before = this.#groups.get(key);
      const tagIds = before?.epoch === epoch ? before.tagIds : new Set(knownTagIds);
      for (const tagId of newTagIds) tagIds.add(tagId);
      this.#groups.set(key, { epoch, tagIds }, tagIds.size);
    }
  }
}
