/** Plans a request's changes to tags, before anything is written. */

import { isDeepStrictEqual } from 'node:util';
import type { Tag } from '../../domain/tag.ts';
import type { Fault } from '../problem.ts';
import type { GroupTree } from './group-tree.ts';
import type { TagFields } from './tag-forms.ts';

export interface TagPlan {
  readonly inserts: readonly Tag[];
  readonly updates: readonly Tag[];
  /** The id of each entry, in the order of the request. */
  readonly ids: readonly number[];
  readonly faults: readonly Fault[];
}

type Entry = TagFields & { readonly name: string };

/**
 * A sourceId that occurs twice in a request names one tag: the later entry changes the tag of the
 * earlier one.
 */
export function planTags(
  known: readonly Tag[],
  tree: GroupTree,
  clientId: number,
  entries: readonly Entry[],
  newIds: readonly number[],
): TagPlan {
  const before = new Map(known.map((tag) => [tag.id, tag]));
  const bySourceId = new Map(
    known.flatMap((tag) => (tag.sourceId ? [[tag.sourceId, tag.id]] : [])),
  );
  const after = new Map(before);
  const unused = [...newIds];
  const faults: Fault[] = [];
  const ids = entries.map((entry, index) => {
    const knownId = entry.sourceId ? bySourceId.get(entry.sourceId) : undefined;
    const id = knownId ?? unused.shift();
    if (id === undefined) throw new Error('fewer ids than new tags');
    if (entry.sourceId) bySourceId.set(entry.sourceId, id);
    const changed = changeTag(after.get(id) ?? blankTag(id, clientId), entry, tree);
    if (changed === null) faults.push(groupFault(`tags.${index}`));
    else after.set(id, changed);
    return id;
  });
  const tags = [...after.values()];
  return {
    inserts: tags.filter(({ id }) => !before.has(id)),
    updates: tags.filter(
      (tag) => before.has(tag.id) && !isDeepStrictEqual(tag, before.get(tag.id)),
    ),
    ids,
    faults,
  };
}

/** A tag with the given fields changed; null: its group does not exist. */
export function changeTag(tag: Tag, fields: TagFields, tree: GroupTree): Tag | null {
  const group = fields.groupSourceId ? tree.bySourceId(fields.groupSourceId) : null;
  if (group === undefined) return null;
  return {
    ...tag,
    name: fields.name ?? tag.name,
    sourceId: keptUnlessGiven(fields.sourceId, tag.sourceId),
    groupId: fields.groupSourceId === undefined ? tag.groupId : (group?.id ?? null),
    expiresAtMs: keptUnlessGiven(fields.expiration, tag.expiresAtMs),
    optionalParameters: keptUnlessGiven(fields.tagOptionalParameters, tag.optionalParameters),
  };
}

/** The fault of a group that does not exist. */
export const groupFault = (path: string): Fault => ({
  path: `${path}.groupSourceId`,
  message: 'names no group',
});

const keptUnlessGiven = <T>(given: T | null | undefined, current: T | null): T | null =>
  given === undefined ? current : given;

const blankTag = (id: number, clientId: number): Tag => ({
  id,
  clientId,
  name: '',
  sourceId: null,
  groupId: null,
  optionalParameters: null,
  expiresAtMs: null,
  appIds: null,
});
