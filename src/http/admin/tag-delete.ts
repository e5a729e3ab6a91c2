/** `POST tag/delete/<client>`: deletes one tag, or one tag group that is empty. */

import type { Caller } from '../../access/caller.ts';
import { lockClient, raiseCatalogueVersion } from '../../store/clients/lock-client.ts';
import type { Sql, SqlPool } from '../../store/sql.ts';
import { deleteEmptyGroup } from '../../store/tag-groups/delete-group.ts';
import { readGroups } from '../../store/tag-groups/read-groups.ts';
import { deleteTag } from '../../store/tags/delete-tag.ts';
import { transact } from '../../store/transact.ts';
import type { HttpRequest, HttpResponse } from '../handler.ts';
import { json, readJsonBody } from '../json-body.ts';
import { problem } from '../problem.ts';
import { findNamedGroup, findNamedTag, notFound } from './find-named.ts';
import { GroupTree } from './group-tree.ts';
import type { OneGroup, OneTag } from './tag-forms.ts';
import { oneForm } from './tag-forms.ts';

/** Handles `tag/delete`. */
export function removeTag(
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
    if (tag !== undefined) return deleteOneTag(tx, request, caller.clientId, tag);
    if (group !== undefined) return deleteOneGroup(tx, request, caller.clientId, group);
    throw new Error('the form lets exactly one entry through');
  });
}

async function deleteOneTag(
  tx: Sql,
  request: HttpRequest,
  clientId: number,
  entry: OneTag,
): Promise<HttpResponse> {
  const tag = await findNamedTag(tx, clientId, entry);
  if (tag === null) return notFound(request);
  await deleteTag(tx, clientId, tag.id);
  await raiseCatalogueVersion(tx, clientId);
  return json({ tags: [{ ...entry, id: tag.id }] });
}

async function deleteOneGroup(
  tx: Sql,
  request: HttpRequest,
  clientId: number,
  entry: OneGroup,
): Promise<HttpResponse> {
  const group = findNamedGroup(new GroupTree(await readGroups(tx, clientId)), entry);
  if (group === null) return notFound(request);
  if (!(await deleteEmptyGroup(tx, clientId, group.id))) {
    return problem(request.requestId, 409, 'This group is not empty.');
  }
  await raiseCatalogueVersion(tx, clientId);
  return json({ groups: [{ ...entry, id: group.id }] });
}
