/** Plans a request's changes to tag groups, on the tree, before anything is written. */

import { isDeepStrictEqual } from 'node:util';
import type { TagGroup } from '../domain/tag.ts';
import { TAG_GROUP_DEPTH_MAX } from '../domain/tag.ts';
import type { FormFault } from '../std/strict-form.ts';
import { fieldPath, readPlace } from './place.ts';
import type { TagGroupTree } from './tag-group-tree.ts';

/** Fields of a group that a request may give. Undefined: keep; null: clear. */
export interface TagGroupFields {
  readonly name?: string | undefined;
  readonly sourceId?: string | null | undefined;
  readonly parentId?: number | null | undefined;
  readonly parentGroupSourceId?: string | null | undefined;
}

export interface TagGroupPlan {
  readonly inserts: readonly TagGroup[];
  readonly updates: readonly TagGroup[];
  /** The id of each entry, in the order of the request. */
  readonly ids: readonly number[];
  readonly faults: readonly FormFault[];
}

export type TagGroupEntry = TagGroupFields & { readonly name: string };

/** All groups are added before parents are looked up: the order of entries does not matter. */
export function planTagGroups(
  tree: TagGroupTree,
  clientId: number,
  entries: readonly TagGroupEntry[],
  newIds: readonly number[],
): TagGroupPlan {
  const before = new Map<number, TagGroup>();
  const unused = [...newIds];
  const ids = entries.map((entry) => {
    const known = entry.sourceId ? tree.bySourceId(entry.sourceId) : undefined;
    if (known !== undefined) {
      if (!before.has(known.id) && !newIds.includes(known.id)) before.set(known.id, known);
      return known.id;
    }
    const id = unused.shift();
    if (id === undefined) throw new Error('fewer ids than new groups');
    tree.put({ id, clientId, name: entry.name, sourceId: entry.sourceId ?? null, parentId: null });
    return id;
  });
  const faults = entries.flatMap((entry, index) =>
    changeTagGroup(tree, ids[index] ?? 0, entry, `groups.${index}`),
  );
  const misplaced = tree.misplaced(new Set(ids));
  for (const [index, id] of ids.entries()) {
    if (misplaced.has(id)) faults.push(misplacedFault(`groups.${index}.parentGroupSourceId`));
  }
  const current = (id: number): TagGroup[] =>
    [tree.byId(id)].filter((group) => group !== undefined);
  return {
    inserts: newIds.flatMap(current),
    updates: [...before].flatMap(([id, old]) =>
      current(id).filter((group) => !isDeepStrictEqual(group, old)),
    ),
    ids,
    faults,
  };
}

export function changeTagGroup(
  tree: TagGroupTree,
  id: number,
  fields: TagGroupFields,
  path: string,
): FormFault[] {
  const group = tree.byId(id);
  if (group === undefined) throw new Error(`group ${id} is not in the tree`);
  const place = readPlace(
    tree,
    { id: fields.parentId, sourceId: fields.parentGroupSourceId },
    { id: fieldPath(path, 'parentId'), sourceId: fieldPath(path, 'parentGroupSourceId') },
  );
  if (!place.ok) return [place.fault];
  tree.put({
    ...group,
    name: fields.name ?? group.name,
    sourceId: fields.sourceId === undefined ? group.sourceId : fields.sourceId,
    parentId: place.groupId === undefined ? group.parentId : place.groupId,
  });
  return [];
}

/** The fault of a group that may not be where it was put, by the field at `path`. */
export const misplacedFault = (path: string): FormFault => ({
  path,
  message: `would make a cycle, or groups nested deeper than ${TAG_GROUP_DEPTH_MAX}`,
});
