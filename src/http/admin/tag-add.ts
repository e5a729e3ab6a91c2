/**
 * `POST tag/add/<client>`: makes sure that tags and groups with these sourceIds exist, several in one request, all or none.
 * Groups come first, so that tags may name a group of the same request.
 */

import type { z } from 'zod';
import type { Caller } from '../../access/caller.ts';
import { TAGS_PER_CLIENT_MAX } from '../../domain/tag.ts';
import { lockClient, raiseCatalogueVersion } from '../../store/clients/lock-client.ts';
import { nextObjectIds } from '../../store/object-ids.ts';
import type { Sql, SqlPool } from '../../store/sql.ts';
import { readGroups } from '../../store/tag-groups/read-groups.ts';
import { insertGroups, updateGroups } from '../../store/tag-groups/write-groups.ts';
import { countTags } from '../../store/tags/count-tags.ts';
import { readTagsBySourceIds } from '../../store/tags/read-tags.ts';
import { insertTags, updateTags } from '../../store/tags/write-tags.ts';
import { transact } from '../../store/transact.ts';
import type { HttpRequest, HttpResponse } from '../handler.ts';
import { invalid, json, readJsonBody } from '../json-body.ts';
import type { Fault } from '../problem.ts';
import { GroupTree } from './group-tree.ts';
import type { GroupPlan } from './plan-groups.ts';
import { countNewGroups, GROUPS_PER_CLIENT_MAX, planGroups } from './plan-groups.ts';
import type { TagPlan } from './plan-tags.ts';
import { planTags } from './plan-tags.ts';
import { addForm } from './tag-forms.ts';

type Entries = z.infer<typeof addForm>;
type GroupEntries = NonNullable<Entries['groups']>;
type TagEntries = NonNullable<Entries['tags']>;

/** Handles `tag/add`. */
export function addTags(
  sql: SqlPool,
  request: HttpRequest,
  caller: Caller,
): HttpResponse | Promise<HttpResponse> {
  const read = readJsonBody(request, addForm);
  if (!read.ok) return read.response;
  const { groups, tags } = read.value;
  return transact(sql, async (tx) => {
    await lockClient(tx, caller.clientId);
    const tree = new GroupTree(await readGroups(tx, caller.clientId));
    const groupPlan = await planOfGroups(tx, tree, caller.clientId, groups ?? []);
    const tagPlan = await planOfTags(tx, tree, caller.clientId, tags ?? []);
    const faults = [...groupPlan.faults, ...tagPlan.faults];
    if (faults.length > 0) return invalid(request, faults);
    await write(tx, caller.clientId, groupPlan, tagPlan);
    return json({
      ...(groups === undefined ? {} : { groups: withIds(groups, groupPlan.ids) }),
      ...(tags === undefined ? {} : { tags: withIds(tags, tagPlan.ids) }),
    });
  });
}

async function planOfGroups(
  tx: Sql,
  tree: GroupTree,
  clientId: number,
  entries: GroupEntries,
): Promise<GroupPlan> {
  const newIds = await nextObjectIds(tx, countNewGroups(tree, entries));
  const plan = planGroups(tree, clientId, entries, newIds);
  return tree.size <= GROUPS_PER_CLIENT_MAX
    ? plan
    : withFault(plan, 'groups', `would be more than ${GROUPS_PER_CLIENT_MAX}`);
}

async function planOfTags(
  tx: Sql,
  tree: GroupTree,
  clientId: number,
  entries: TagEntries,
): Promise<TagPlan> {
  const sourceIds = entries.flatMap(({ sourceId }) => (sourceId ? [sourceId] : []));
  const known = await readTagsBySourceIds(tx, clientId, sourceIds);
  const knownSourceIds = new Set(known.map(({ sourceId }) => sourceId));
  const isNew = ({ sourceId }: TagEntries[number]): boolean =>
    !sourceId || !knownSourceIds.has(sourceId);
  const newIds = await nextObjectIds(tx, entries.filter(isNew).length);
  const plan = planTags(known, tree, clientId, entries, newIds);
  const isTooMany =
    plan.inserts.length > 0 &&
    (await countTags(tx, clientId)) + plan.inserts.length > TAGS_PER_CLIENT_MAX;
  return isTooMany ? withFault(plan, 'tags', `would be more than ${TAGS_PER_CLIENT_MAX}`) : plan;
}

const withFault = <P extends { readonly faults: readonly Fault[] }>(
  plan: P,
  path: string,
  message: string,
): P => ({ ...plan, faults: [...plan.faults, { path, message }] });

async function write(tx: Sql, clientId: number, groups: GroupPlan, tags: TagPlan): Promise<void> {
  await insertGroups(tx, clientId, groups.inserts);
  await updateGroups(tx, clientId, groups.updates);
  await insertTags(tx, clientId, tags.inserts);
  await updateTags(tx, clientId, tags.updates);
  const changes = [groups.inserts, groups.updates, tags.inserts, tags.updates];
  // Callers ensure their tags before everything they do: what changes nothing must not empty the caches.
  if (changes.some(({ length }) => length > 0)) await raiseCatalogueVersion(tx, clientId);
}

const withIds = <T extends object>(entries: readonly T[], ids: readonly number[]) =>
  entries.map((entry, index) => ({ ...entry, id: ids[index] }));
