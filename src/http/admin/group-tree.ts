/**
 * The groups of a client as a tree, with the changes of one request made on it before anything is
 * written.
 */

import type { TagGroup } from '../../domain/tag.ts';
import { GROUP_DEPTH_MAX } from '../../domain/tag.ts';

export class GroupTree {
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

  /** Adds a group, or puts it in place of the one with its id. */
  put(group: TagGroup): void {
    const before = this.#byId.get(group.id)?.sourceId;
    if (typeof before === 'string') this.#bySourceId.delete(before);
    this.#byId.set(group.id, group);
    if (group.sourceId !== null) this.#bySourceId.set(group.sourceId, group);
  }

  /**
   * Of the groups that were changed: those that lie in a cycle, or have a group too deep at or
   * under them.
   */
  misplaced(changed: ReadonlySet<number>): ReadonlySet<number> {
    const misplaced = new Set<number>();
    for (const { id } of this.#byId.values()) {
      const path = this.#pathToRoot(id);
      // The tree was right before, so that a changed group is on every path that is not.
      if (path.length <= GROUP_DEPTH_MAX) continue;
      for (const step of path) if (changed.has(step)) misplaced.add(step);
    }
    return misplaced;
  }

  /**
   * The group and its ancestors, cut one beyond the allowed depth: a cycle looks like a path too
   * long.
   */
  #pathToRoot(id: number): readonly number[] {
    const path: number[] = [];
    for (let at: number | null = id; at !== null && path.length <= GROUP_DEPTH_MAX; ) {
      path.push(at);
      at = this.#byId.get(at)?.parentId ?? null;
    }
    return path;
  }
}
