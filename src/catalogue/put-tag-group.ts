/** Makes or changes one group, within the limits of its client and of the caller's key. */

import { isDeepStrictEqual } from 'node:util';
import { raiseCatalogueVersion } from '../clients/lock-client.ts';
import { nextObjectIds, OBJECT_IDS_USED_UP } from '../database/object-ids.ts';
import type { Sql } from '../database/sql.ts';
import { changedFields } from '../domain/audit.ts';
import type { Caller } from '../domain/caller.ts';
import { overLimit } from '../domain/client-limits.ts';
import type { TagGroup } from '../domain/tag.ts';
import type { ChangedClient, Outcome, Recorder } from './outcome.ts';
import { done, refused } from './outcome.ts';
import { fieldPath } from './place.ts';
import type { TagGroupFields } from './plan-tag-groups.ts';
import { changeTagGroup, misplacedFault } from './plan-tag-groups.ts';
import { readTagGroups } from './read-groups.ts';
import { deleteEmptyTagGroup } from './sql/delete-group.ts';
import type { ListedTagGroup } from './sql/list-groups.ts';
import { insertTagGroups, updateTagGroups } from './sql/write-groups.ts';
import { TagGroupTree } from './tag-group-tree.ts';
import { Territory } from './territory.ts';

const NO_ID = 0;

interface TagGroupToPut extends ChangedClient {
  /** Null: it is to be made. */
  readonly before: TagGroup | null;
  readonly fields: TagGroupFields;
  readonly path: string;
}

/**
 * The caller of it holds the client's lock, and has read its groups: so of two moves the later one
 * sees the earlier. The change is made on the tree too, also when it is refused.
 */
export async function putTagGroup(
  tx: Sql,
  caller: Caller,
  tree: TagGroupTree,
  { before, fields, path, record, limits }: TagGroupToPut,
): Promise<Outcome<TagGroup>> {
  const territory = new Territory(caller, tree);
  const outside = refused({ kind: 'outside', path });
  if (before !== null && !territory.holdsGroup(before.id)) return outside;
  const holder = fields.sourceId ? tree.bySourceId(fields.sourceId) : undefined;
  if (holder !== undefined && holder.id !== before?.id) return refused({ kind: 'taken' });
  const over = before === null ? overLimit(limits, 'tagGroups', tree.size) : null;
  if (over !== null) return refused({ kind: 'over-limit', over });
  const id = before?.id ?? NO_ID;
  tree.put(before ?? newGroup(caller.clientId));
  const faults = changeTagGroup(tree, id, fields, path);
  if (tree.misplaced(new Set([id])).size > 0) {
    const field = fields.parentId === undefined ? 'parentGroupSourceId' : 'parentId';
    faults.push(misplacedFault(fieldPath(path, field)));
  }
  const after = tree.byId(id);
  if (faults.length > 0 || after === undefined) return refused({ kind: 'invalid', faults });
  if (!territory.takesGroup(after, before)) return outside;
  if (before === null) return await insert(tx, after, path, record);
  // A put without a change must not empty the caches.
  if (isDeepStrictEqual(after, before)) return done(after);
  await updateTagGroups(tx, after.clientId, [after]);
  await raiseCatalogueVersion(tx, after.clientId);
  const detail = { fields: changedFields(before, after) };
  await record({ action: 'group.change', id, name: after.name, detail });
  return done(after);
}

/** Deletes a group that holds neither tags nor groups. Null: there is none. */
export async function dropTagGroup(
  tx: Sql,
  record: Recorder,
  territory: Territory,
  group: TagGroup | null,
  path: string,
): Promise<Outcome<TagGroup>> {
  if (group === null) return refused({ kind: 'unknown' });
  if (!territory.holdsGroup(group.id)) return refused({ kind: 'outside', path });
  const isGone = await deleteEmptyTagGroup(tx, group.clientId, group.id);
  if (!isGone) return refused({ kind: 'not-empty' });
  await raiseCatalogueVersion(tx, group.clientId);
  await record({ action: 'group.delete', id: group.id, name: group.name });
  return done(group);
}

/** Puts a group and returns it as lists do. `id` null: makes one. Under the client's lock. */
export async function putListedTagGroup(
  tx: Sql,
  caller: Caller,
  client: ChangedClient,
  id: number | null,
  fields: TagGroupFields,
): Promise<Outcome<ListedTagGroup>> {
  const tree = new TagGroupTree(await readTagGroups(tx, caller.clientId));
  const before = id === null ? null : (tree.byId(id) ?? null);
  if (before === null && id !== null) return refused({ kind: 'unknown' });
  const put = await putTagGroup(tx, caller, tree, { ...client, before, fields, path: '' });
  if (!put.ok) return put;
  const { parentId } = put.value;
  const parent = parentId === null ? undefined : tree.byId(parentId);
  return done({ ...put.value, parentGroupSourceId: parent?.sourceId ?? null });
}

async function insert(
  tx: Sql,
  group: TagGroup,
  path: string,
  record: Recorder,
): Promise<Outcome<TagGroup>> {
  const ids = await nextObjectIds(tx, group.clientId, 1);
  const id = ids?.[0];
  if (id === undefined) {
    return refused({ kind: 'invalid', faults: [{ path, message: OBJECT_IDS_USED_UP }] });
  }
  const made = { ...group, id };
  await insertTagGroups(tx, group.clientId, [made]);
  await raiseCatalogueVersion(tx, group.clientId);
  await record({ action: 'group.create', id, name: made.name });
  return done(made);
}

const newGroup = (clientId: number): TagGroup => ({
  id: NO_ID,
  clientId,
  name: '',
  sourceId: null,
  parentId: null,
});
