/** `POST tag/delete/<client>`: deletes one tag, or one tag group that is empty. */

import { lockClient } from '../../clients/lock-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { Caller } from '../../domain/caller.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import { readTagGroups } from '../read-groups.ts';
import { readDataBody } from './data-body.ts';
import { findNamedTag, findNamedTagGroup } from './find-named.ts';
import { dropTag } from './put-tag.ts';
import { dropTagGroup } from './put-tag-group.ts';
import { refuse } from './refusal.ts';
import type { OneTag, OneTagGroup } from './tag-forms.ts';
import { oneForm } from './tag-forms.ts';
import { TagGroupTree } from './tag-group-tree.ts';
import { readTerritory, Territory } from './territory.ts';

/** Handles `tag/delete`. */
export function removeTag(
  sql: SqlPool,
  request: HttpRequest,
  caller: Caller,
): HttpResponse | Promise<HttpResponse> {
  const read = readDataBody(request, oneForm);
  if (!read.ok) return read.response;
  const [tag] = read.value.tags;
  const [group] = read.value.groups;
  return transact(sql, async (tx) => {
    await lockClient(tx, caller.clientId);
    if (tag !== undefined) return deleteOneTag(tx, request, caller, tag);
    if (group !== undefined) return deleteOneTagGroup(tx, request, caller, group);
    throw new Error('the form lets exactly one entry through');
  });
}

async function deleteOneTag(
  tx: Sql,
  request: HttpRequest,
  caller: Caller,
  entry: OneTag,
): Promise<HttpResponse> {
  const tag = await findNamedTag(tx, caller.clientId, entry);
  const territory = await readTerritory(tx, caller);
  const dropped = await dropTag(tx, originOf(request, caller), territory, tag, 'tags.0');
  return dropped.ok
    ? json({ tags: [{ ...entry, id: dropped.value.id }] })
    : refuse(request, dropped.refusal);
}

async function deleteOneTagGroup(
  tx: Sql,
  request: HttpRequest,
  caller: Caller,
  entry: OneTagGroup,
): Promise<HttpResponse> {
  const tree = new TagGroupTree(await readTagGroups(tx, caller.clientId));
  const group = findNamedTagGroup(tree, entry);
  const territory = new Territory(caller, tree);
  const dropped = await dropTagGroup(tx, originOf(request, caller), territory, group, 'groups.0');
  return dropped.ok
    ? json({ groups: [{ ...entry, id: dropped.value.id }] })
    : refuse(request, dropped.refusal);
}
