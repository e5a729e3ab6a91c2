/**
 * `POST tag/update/<client>`: changes or moves one tag or tag group. An absent field keeps its
 * value, null clears it.
 */

import type { Caller } from '../../access/caller.ts';
import type { Tag, TagGroup } from '../../domain/tag.ts';
import { lockClient, raiseCatalogueVersion } from '../../store/clients/lock-client.ts';
import type { Sql, SqlPool } from '../../store/sql.ts';
import { readGroups } from '../../store/tag-groups/read-groups.ts';
import { updateGroups } from '../../store/tag-groups/write-groups.ts';
import { readTagBySourceId } from '../../store/tags/read-tags.ts';
import { updateTags } from '../../store/tags/write-tags.ts';
import { transact } from '../../store/transact.ts';
import type { HttpRequest, HttpResponse } from '../handler.ts';
import { invalid, json, readJsonBody } from '../json-body.ts';
import { problem } from '../problem.ts';
import { findNamedGroup, findNamedTag, notFound } from './find-named.ts';
import { GroupTree } from './group-tree.ts';
import { parameterFaults } from './parameter-budget.ts';
import { changeGroup, misplacedFault } from './plan-groups.ts';
import { changeTag, groupFault } from './plan-tags.ts';
import type { OneGroup, OneTag } from './tag-forms.ts';
import { oneForm } from './tag-forms.ts';

/** Handles `tag/update`. */
export function updateTag(
  sql: SqlPool,
  request: HttpRequest,
  caller: Caller,
): HttpResponse | Promise<HttpResponse> {
  const read = readJsonBody(request, oneForm);
  if (!read.ok) return read.response;
  const [tag] = read.value.tags;
  const [group] = read.value.groups;
  return transact(sql, async (tx) => {
    await lockClient(tx, caller.clientId);
    const tree = new GroupTree(await readGroups(tx, caller.clientId));
    if (tag !== undefined) return updateOneTag(tx, request, caller.clientId, tree, tag);
    if (group !== undefined) return updateOneGroup(tx, request, caller.clientId, tree, group);
    throw new Error('the form lets exactly one entry through');
  });
}

async function updateOneTag(
  tx: Sql,
  request: HttpRequest,
  clientId: number,
  tree: GroupTree,
  entry: OneTag,
): Promise<HttpResponse> {
  const tag = await findNamedTag(tx, clientId, entry);
  if (tag === null) return notFound(request);
  const changed = changeTag(tag, entry, tree);
  if (changed === null) return invalid(request, [groupFault('tags.0')]);
  const faults = entry.tagOptionalParameters
    ? await parameterFaults(tx, clientId, [changed], 'tags.0.tagOptionalParameters')
    : [];
  if (faults.length > 0) return invalid(request, faults);
  if (await isTaken(tx, changed)) return taken(request);
  await updateTags(tx, clientId, [changed]);
  await raiseCatalogueVersion(tx, clientId);
  return json({ tags: [{ ...entry, id: tag.id }] });
}

async function updateOneGroup(
  tx: Sql,
  request: HttpRequest,
  clientId: number,
  tree: GroupTree,
  entry: OneGroup,
): Promise<HttpResponse> {
  const group = findNamedGroup(tree, entry);
  if (group === null) return notFound(request);
  const holder = entry.sourceId ? tree.bySourceId(entry.sourceId) : undefined;
  if (holder !== undefined && holder.id !== group.id) return taken(request);
  const faults = changeGroup(tree, group.id, entry, 'groups.0');
  if (tree.misplaced(new Set([group.id])).size > 0) faults.push(misplacedFault('groups.0'));
  const changed: TagGroup | undefined = tree.byId(group.id);
  if (faults.length > 0 || changed === undefined) return invalid(request, faults);
  await updateGroups(tx, clientId, [changed]);
  await raiseCatalogueVersion(tx, clientId);
  return json({ groups: [{ ...entry, id: group.id }] });
}

/** Whether another tag of the client has the new sourceId of this one. */
async function isTaken(tx: Sql, tag: Tag): Promise<boolean> {
  if (tag.sourceId === null) return false;
  const holder = await readTagBySourceId(tx, tag.clientId, tag.sourceId);
  return holder !== null && holder.id !== tag.id;
}

const taken = (request: HttpRequest): HttpResponse =>
  problem(request.requestId, 409, 'Another tag or group has this sourceId.');
