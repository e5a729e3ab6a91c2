/**
 * Ensures that tags and tag groups with these sourceIds exist, several in one request, all or none.
 * Groups come first, so that tags may name a group of the same request.
 */

import { raiseCatalogueVersion } from '../clients/lock-client.ts';
import { nextObjectIds, OBJECT_IDS_USED_UP } from '../database/object-ids.ts';
import type { Sql } from '../database/sql.ts';
import type { AuditedChange } from '../domain/audit.ts';
import type { Caller } from '../domain/caller.ts';
import { isLimited } from '../domain/caller.ts';
import type { ClientLimits, OverLimit } from '../domain/client-limits.ts';
import { overLimit } from '../domain/client-limits.ts';
import type { Tag, TagGroup } from '../domain/tag.ts';
import { countTags } from './count-tags.ts';
import type { ChangedClient, Outcome } from './outcome.ts';
import { done, refused } from './outcome.ts';
import { parameterFaults } from './parameter-budget.ts';
import type { TagGroupEntry, TagGroupPlan } from './plan-tag-groups.ts';
import { planTagGroups } from './plan-tag-groups.ts';
import type { TagEntry, TagPlan } from './plan-tags.ts';
import { planTags } from './plan-tags.ts';
import { readTagGroups } from './read-groups.ts';
import { readTagsBySourceIds } from './read-tags.ts';
import { insertTagGroups, updateTagGroups } from './sql/write-groups.ts';
import { TagGroupTree } from './tag-group-tree.ts';
import { Territory } from './territory.ts';
import { insertTags, updateTags } from './write-tags.ts';

interface Entries {
  readonly groups: readonly TagGroupEntry[];
  readonly tags: readonly TagEntry[];
}

interface Ids {
  readonly groups: readonly number[];
  readonly tags: readonly number[];
}

/** The caller of it holds the client's lock. */
export async function addTags(
  tx: Sql,
  caller: Caller,
  { limits, record }: ChangedClient,
  entries: Entries,
): Promise<Outcome<Ids>> {
  const { groups, tags } = entries;
  const before = await readBefore(tx, caller.clientId, tags);
  const plan = (groupIds: readonly number[], tagIds: readonly number[]): Plans =>
    planAll(before, caller, entries, groupIds, tagIds);
  // Ids are never given out twice: none is drawn for what is refused.
  const draft = plan(standIns(0, groups.length), standIns(groups.length, tags.length));
  const changed = [...draft.tags.inserts, ...draft.tags.updates];
  const faults = [
    ...draft.groups.faults,
    ...draft.tags.faults,
    ...(await parameterFaults(tx, caller.clientId, changed, 'tags')),
  ];
  if (faults.length > 0) return refused({ kind: 'invalid', faults });
  const foreign = isLimited(caller) ? outsideOf(caller, before, draft) : null;
  if (foreign !== null) return refused({ kind: 'outside', path: foreign });
  const over = overLimitOf(limits, before, draft);
  if (over !== null) return refused({ kind: 'over-limit', over });
  const newGroups = draft.groups.inserts.length;
  const wanted = newGroups + draft.tags.inserts.length;
  const ids = await nextObjectIds(tx, caller.clientId, wanted);
  if (ids === null) {
    return refused({ kind: 'invalid', faults: [{ path: '', message: OBJECT_IDS_USED_UP }] });
  }
  const plans = wanted === 0 ? draft : plan(ids.slice(0, newGroups), ids.slice(newGroups));
  await write(tx, caller.clientId, plans);
  const change = changeOf(plans);
  if (change !== null) await record(change);
  return done({ groups: plans.groups.ids, tags: plans.tags.tags.map(({ id }) => id) });
}

interface Plans {
  readonly groups: TagGroupPlan;
  readonly tags: TagPlan;
  readonly tree: TagGroupTree;
}

interface Before {
  readonly groups: readonly TagGroup[];
  readonly tags: readonly Tag[];
  readonly tagCount: number;
}

async function readBefore(
  tx: Sql,
  clientId: number,
  entries: readonly TagEntry[],
): Promise<Before> {
  const sourceIds = entries.flatMap(({ sourceId }) => (sourceId ? [sourceId] : []));
  const groups = await readTagGroups(tx, clientId);
  const tags = await readTagsBySourceIds(tx, clientId, sourceIds);
  const tagCount = entries.length === 0 ? 0 : await countTags(tx, clientId);
  return { groups, tags, tagCount };
}

/** Numbers that no tag or group has as its id. */
const standIns = (after: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => -1 - after - index);

function planAll(
  before: Before,
  caller: Caller,
  { groups, tags }: Entries,
  groupIds: readonly number[],
  tagIds: readonly number[],
): Plans {
  const tree = new TagGroupTree(before.groups);
  const groupPlan = planTagGroups(tree, caller.clientId, groups, groupIds);
  const tagPlan = planTags(before.tags, tree, caller, tags, tagIds);
  return { tree, groups: groupPlan, tags: tagPlan };
}

/** The limit that the request would bring its client beyond; what makes nothing never does. */
function overLimitOf(limits: ClientLimits, before: Before, plans: Plans): OverLimit | null {
  const ofGroups = plans.groups.inserts.length;
  const ofTags = plans.tags.inserts.length;
  return (
    (ofGroups === 0 ? null : overLimit(limits, 'tagGroups', before.groups.length, ofGroups)) ??
    (ofTags === 0 ? null : overLimit(limits, 'tags', before.tagCount, ofTags))
  );
}

/** The path of the first entry that the caller's key is not for; null: it is for all of them. */
function outsideOf(caller: Caller, before: Before, { groups, tags, tree }: Plans): string | null {
  const treeBefore = new TagGroupTree(before.groups);
  const was = new Territory(caller, treeBefore);
  const is = new Territory(caller, tree);
  const isForeignGroup = (id: number): boolean => {
    const old = treeBefore.byId(id) ?? null;
    const group = tree.byId(id);
    if (group === undefined) throw new Error(`group ${id} is not in the tree`);
    return (old !== null && !was.holdsGroup(id)) || !is.takesGroup(group, old);
  };
  const isForeignTag = (tag: Tag): boolean => {
    const old = before.tags.find(({ id }) => id === tag.id) ?? null;
    return (old !== null && !was.holdsTag(old)) || !is.takesTag(tag, old);
  };
  const group = groups.ids.findIndex(isForeignGroup);
  if (group !== -1) return `groups.${group}`;
  const tag = tags.tags.findIndex(isForeignTag);
  return tag === -1 ? null : `tags.${tag}`;
}

async function write(tx: Sql, clientId: number, { groups, tags }: Plans): Promise<void> {
  await insertTagGroups(tx, clientId, groups.inserts);
  await updateTagGroups(tx, clientId, groups.updates);
  await insertTags(tx, clientId, tags.inserts);
  await updateTags(tx, clientId, tags.updates);
  const changes = [groups.inserts, groups.updates, tags.inserts, tags.updates];
  // Callers ensure their tags before all else: a request without changes must not empty the caches.
  if (changes.some(({ length }) => length > 0)) await raiseCatalogueVersion(tx, clientId);
}

/** One entry of the audit log, however many are changed. Null: none is. */
function changeOf({ groups, tags }: Plans): AuditedChange | null {
  const [changed, ...others] = [
    ...groups.inserts.map((group) => ({ action: 'group.create', ...group }) as const),
    ...groups.updates.map((group) => ({ action: 'group.change', ...group }) as const),
    ...tags.inserts.map((tag) => ({ action: 'tag.create', ...tag }) as const),
    ...tags.updates.map((tag) => ({ action: 'tag.change', ...tag }) as const),
  ];
  if (changed === undefined) return null;
  if (others.length === 0) return { action: changed.action, id: changed.id, name: changed.name };
  const detail = {
    groupsCreated: groups.inserts.length,
    groupsChanged: groups.updates.length,
    tagsCreated: tags.inserts.length,
    tagsChanged: tags.updates.length,
  };
  return { action: 'tags.change', id: null, name: null, detail };
}
