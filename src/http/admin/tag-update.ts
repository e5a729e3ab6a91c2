/**
 * `POST tag/update/<client>`: changes or moves one tag or tag group. An absent field keeps its
 * value, null clears it.
 */

import type { Caller } from '../../access/caller.ts';
import { lockClient } from '../../store/clients/lock-client.ts';
import type { Sql, SqlPool } from '../../store/sql.ts';
import { readGroups } from '../../store/tag-groups/read-groups.ts';
import { transact } from '../../store/transact.ts';
import type { HttpRequest, HttpResponse } from '../handler.ts';
import { json } from '../json-body.ts';
import { readDataBody } from './data-body.ts';
import { findNamedGroup, findNamedTag, notFound } from './find-named.ts';
import { GroupTree } from './group-tree.ts';
import { putGroup } from './put-group.ts';
import { putTag } from './put-tag.ts';
import { refuse } from './refusal.ts';
import type { OneGroup, OneTag } from './tag-forms.ts';
import { oneForm } from './tag-forms.ts';

/** Handles `tag/update`. */
export function updateTag(
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
    const tree = new GroupTree(await readGroups(tx, caller.clientId));
    if (tag !== undefined) return updateOneTag(tx, request, caller, tree, tag);
    if (group !== undefined) return updateOneGroup(tx, request, caller, tree, group);
    throw new Error('the form lets exactly one entry through');
  });
}

async function updateOneTag(
  tx: Sql,
  request: HttpRequest,
  caller: Caller,
  tree: GroupTree,
  entry: OneTag,
): Promise<HttpResponse> {
  const before = await findNamedTag(tx, caller.clientId, entry);
  if (before === null) return notFound(request);
  const put = await putTag(tx, caller, tree, { before, fields: entry, path: 'tags.0' });
  return put.ok ? json({ tags: [{ ...entry, id: before.id }] }) : refuse(request, put.refusal);
}

async function updateOneGroup(
  tx: Sql,
  request: HttpRequest,
  caller: Caller,
  tree: GroupTree,
  entry: OneGroup,
): Promise<HttpResponse> {
  const before = findNamedGroup(tree, entry);
  if (before === null) return notFound(request);
  const put = await putGroup(tx, caller, tree, { before, fields: entry, path: 'groups.0' });
  return put.ok ? json({ groups: [{ ...entry, id: before.id }] }) : refuse(request, put.refusal);
}
