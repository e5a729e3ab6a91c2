/**
 * Which tags groups of devices are known to have in the database: almost every tag that a
 * registration adds is one that its group has had for long, and to look for each costs more than
 * the rest of the row.
 */

import type { GroupKey } from '../../domain/group-change.ts';
import { groupKeyOf } from '../../domain/group-change.ts';
import { CappedMap } from '../../std/capped-map.ts';
import type { RaisedWithEpoch, TouchedGroup } from '../../store/devices/record-changes.ts';

/**
 * Of all groups together: 4 MB or so. New devices come into few groups; for others a look is what
 * it costs.
 */
const TAGS_MAX = 100_000;

interface Known {
  readonly epoch: number;
  readonly tagIds: Set<number>;
}

export class KnownGroupTags {
  /** By their tags: those written longest ago are forgotten. */
  readonly #groups = new CappedMap<string, Known>({ weightMax: TAGS_MAX });

  /** The tags that a group gains, told apart by whether they are known of it. */
  split(group: GroupKey, tagIds: Iterable<number>): TouchedGroup {
    const known = this.#groups.get(groupKeyOf(group));
    const knownTagIds: number[] = [];
    const newTagIds: number[] = [];
    for (const tagId of tagIds) (known?.tagIds.has(tagId) ? knownTagIds : newTagIds).push(tagId);
    return { ...group, knownTagIds, knownEpoch: known?.epoch ?? 0, newTagIds };
  }

  /** A transaction that raised these groups, and wrote those tags, was committed. */
  learn(groups: readonly TouchedGroup[], raised: readonly RaisedWithEpoch[]): void {
    const epochs = new Map(raised.map((group) => [groupKeyOf(group), group.tagsEpoch]));
    for (const { knownTagIds, newTagIds, ...group } of groups) {
      const key = groupKeyOf(group);
      const epoch = epochs.get(key);
      if (epoch === undefined) continue;
      const before = this.#groups.get(key);
      const tagIds = before?.epoch === epoch ? before.tagIds : new Set(knownTagIds);
      for (const tagId of newTagIds) tagIds.add(tagId);
      this.#groups.set(key, { epoch, tagIds }, tagIds.size);
    }
  }
}
