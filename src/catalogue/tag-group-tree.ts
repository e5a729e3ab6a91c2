/** The tag groups of a client as a tree. A request changes the tree before anything is written. */

import type { TagGroup } from '../domain/tag.ts';
import { TAG_GROUP_DEPTH_MAX } from '../domain/tag.ts';

export class TagGroupTree {
  readonly #byId = new Map<number, TagGroup>();
  readonly #bySourceId = new Map<string, TagGroup>();

  constructor(groups: readonly TagGroup[]) {
    for (const group of groups) this.put(group);
  }

  get size(): number {
    return this.#byId.size;
  }

  byId(id: number): TagGroup | undefined {
    return this.#byId.get(id);
  }

  bySourceId(sourceId: string): TagGroup | undefined {
    return this.#bySourceId.get(sourceId);
  }

  /** Adds a group, or replaces the one with its id. */
  put(group: TagGroup): void {
    const before = this.#byId.get(group.id)?.sourceId;
    if (typeof before === 'string') this.#bySourceId.delete(before);
    this.#byId.set(group.id, group);
    if (group.sourceId !== null) this.#bySourceId.set(group.sourceId, group);
  }

  /** Changed groups that lie in a cycle, are too deep, or have one below them that is. */
  misplaced(changed: ReadonlySet<number>): ReadonlySet<number> {
    const misplaced = new Set<number>();
    for (const { id } of this.#byId.values()) {
      const path = this.#pathToRoot(id);
      // The tree was valid before, so every path that is too long now contains a changed group.
      if (path.length <= TAG_GROUP_DEPTH_MAX) continue;
      for (const step of path) if (changed.has(step)) misplaced.add(step);
    }
    return misplaced;
  }

  /**
   * The group and its ancestors, at most one more than the depth: a cycle looks like a long path.
   */
  #pathToRoot(id: number): readonly number[] {
    const path: number[] = [];
    for (let at: number | null = id; at !== null && path.length <= TAG_GROUP_DEPTH_MAX; ) {
      path.push(at);
      at = this.#byId.get(at)?.parentId ?? null;
    }
    return path;
  }
}
