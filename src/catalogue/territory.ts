/** The tags and groups that a caller may change: all, unless his key has limits (decision 45). */

import type { Sql } from '../database/sql.ts';
import type { Caller, KeyRights } from '../domain/caller.ts';
import { isLimited } from '../domain/caller.ts';
import type { Tag, TagGroup } from '../domain/tag.ts';
import { TAG_GROUP_DEPTH_MAX } from '../domain/tag.ts';
import { readTagGroups } from './read-groups.ts';
import { TagGroupTree } from './tag-group-tree.ts';

export class Territory {
  readonly #key: KeyRights | undefined;
  readonly #tree: TagGroupTree;
  readonly #tagIds: ReadonlySet<number>;
  readonly #groupIds: ReadonlySet<number>;

  constructor({ key }: Caller, tree: TagGroupTree) {
    this.#key = key;
    this.#tree = tree;
    this.#tagIds = new Set(key?.tagIds);
    this.#groupIds = new Set(key?.groupIds);
  }

  /** Whether the caller may change or delete a tag. One of no app is of none of his. */
  holdsTag(tag: Tag): boolean {
    if (!this.#holdsEveryApp && tag.appIds?.length === 0) return false;
    return this.#holdsAppsOf(tag) && (this.#tagIds.has(tag.id) || this.#holdsPlace(tag.groupId));
  }

  /** Groups are of all apps: a key that is limited to some changes none. */
  holdsGroup(id: number): boolean {
    return this.#holdsEveryApp && this.#holdsPlace(id);
  }

  /**
   * Whether a tag that he holds may become this one, or be made (`before`: null): it stays where it
   * was, or goes into a group that he holds.
   */
  takesTag(after: Tag, before: Tag | null): boolean {
    const stays = before !== null && before.groupId === after.groupId;
    return this.#holdsAppsOf(after) && (stays || this.#holdsPlace(after.groupId));
  }

  /** The same of a group. */
  takesGroup(after: TagGroup, before: TagGroup | null): boolean {
    const stays = before !== null && before.parentId === after.parentId;
    return this.#holdsEveryApp && (stays || this.#holdsPlace(after.parentId));
  }

  get #holdsEveryApp(): boolean {
    return this.#key === undefined || this.#key.appIds === null;
  }

  /** A tag of other apps too is not his alone; who has no app left holds nothing. */
  #holdsAppsOf({ appIds }: Tag): boolean {
    const limit = this.#key?.appIds ?? null;
    if (limit === null) return true;
    return limit.length > 0 && (appIds?.every((id) => limit.includes(id)) ?? false);
  }

  /** Whether all that is in a group, or in none, is his, as far as tags and groups limit him. */
  #holdsPlace(groupId: number | null): boolean {
    const isLimited = this.#key !== undefined && (this.#key.tagIds ?? this.#key.groupIds) !== null;
    if (!isLimited) return true;
    let at = groupId;
    // A tree that is being judged may have a cycle.
    for (let depth = 0; at !== null && depth <= TAG_GROUP_DEPTH_MAX; depth += 1) {
      if (this.#groupIds.has(at)) return true;
      at = this.#tree.byId(at)?.parentId ?? null;
    }
    return false;
  }
}

/** Reads the present territory. The tree is read only for a caller with limits. */
export async function readTerritory(tx: Sql, caller: Caller): Promise<Territory> {
  const groups = isLimited(caller) ? await readTagGroups(tx, caller.clientId) : [];
  return new Territory(caller, new TagGroupTree(groups));
}
