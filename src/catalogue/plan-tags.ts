/** Plans a request's changes to tags, before anything is written. */

import { isDeepStrictEqual } from 'node:util';
import type { Caller } from '../domain/caller.ts';
import type { Tag } from '../domain/tag.ts';
import type { FormFault } from '../std/strict-form.ts';
import { fieldPath, readPlace } from './place.ts';
import type { TagGroupTree } from './tag-group-tree.ts';

/** Fields of a tag that a request may give. Undefined: keep; null: clear. */
export interface TagFields {
  readonly name?: string | undefined;
  readonly sourceId?: string | null | undefined;
  readonly groupId?: number | null | undefined;
  readonly groupSourceId?: string | null | undefined;
  readonly expiration?: number | null | undefined;
  readonly tagOptionalParameters?: Readonly<Record<string, string>> | null | undefined;
  readonly appIds?: readonly number[] | null | undefined;
}

export interface TagPlan {
  readonly inserts: readonly Tag[];
  readonly updates: readonly Tag[];
  readonly tags: readonly Tag[];
  readonly faults: readonly FormFault[];
}

export type TagEntry = TagFields & { readonly name: string };

/** A sourceId twice in a request names one tag: the later entry changes the earlier one. */
export function planTags(
  known: readonly Tag[],
  tree: TagGroupTree,
  caller: Caller,
  entries: readonly TagEntry[],
  newIds: readonly number[],
): TagPlan {
  const before = new Map(known.map((tag) => [tag.id, tag]));
  const bySourceId = new Map(
    known.flatMap((tag) => (tag.sourceId ? [[tag.sourceId, tag.id]] : [])),
  );
  const after = new Map(before);
  const unused = [...newIds];
  const faults: FormFault[] = [];
  const ids = entries.map((entry, index) => {
    const knownId = entry.sourceId ? bySourceId.get(entry.sourceId) : undefined;
    const id = knownId ?? unused.shift();
    if (id === undefined) throw new Error('fewer ids than new tags');
    if (entry.sourceId) bySourceId.set(entry.sourceId, id);
    const changed = changeTag(after.get(id) ?? newTag(id, caller), entry, tree, `tags.${index}`);
    if (changed.ok) after.set(id, changed.tag);
    else faults.push(changed.fault);
    return id;
  });
  const tags = [...after.values()];
  return {
    inserts: tags.filter(({ id }) => !before.has(id)),
    updates: tags.filter(
      (tag) => before.has(tag.id) && !isDeepStrictEqual(tag, before.get(tag.id)),
    ),
    tags: ids.flatMap((id) => [after.get(id)].filter((tag) => tag !== undefined)),
    faults,
  };
}

type ChangedTag =
  | { readonly ok: true; readonly tag: Tag }
  /** The group that it is to be in does not exist. */
  | { readonly ok: false; readonly fault: FormFault };

/** A tag with the given fields changed; `path`: where they stand in the request. */
export function changeTag(
  tag: Tag,
  fields: TagFields,
  tree: TagGroupTree,
  path: string,
): ChangedTag {
  const place = readPlace(
    tree,
    { id: fields.groupId, sourceId: fields.groupSourceId },
    { id: fieldPath(path, 'groupId'), sourceId: fieldPath(path, 'groupSourceId') },
  );
  if (!place.ok) return place;
  const changed = {
    ...tag,
    name: fields.name ?? tag.name,
    sourceId: keptUnlessGiven(fields.sourceId, tag.sourceId),
    groupId: keptUnlessGiven(place.groupId, tag.groupId),
    expiresAtMs: keptUnlessGiven(fields.expiration, tag.expiresAtMs),
    optionalParameters: keptUnlessGiven(fields.tagOptionalParameters, tag.optionalParameters),
    appIds: keptUnlessGiven(fields.appIds, tag.appIds),
  };
  return { ok: true, tag: changed };
}

const keptUnlessGiven = <T>(given: T | null | undefined, current: T | null): T | null =>
  given === undefined ? current : given;

/** For every app of its client; made by a key that is limited to some, for those. */
export const newTag = (id: number, { clientId, key }: Caller): Tag => ({
  id,
  clientId,
  name: '',
  sourceId: null,
  groupId: null,
  optionalParameters: null,
  expiresAtMs: null,
  appIds: key?.appIds ?? null,
});
