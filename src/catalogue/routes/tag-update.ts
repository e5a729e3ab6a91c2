/**
 * `POST tag/update/<client>`: changes or moves one tag or tag group. An absent field keeps its
 * value, null clears it.
 */

import { lockClient } from '../../clients/lock-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { Caller } from '../../domain/caller.ts';
import type { ClientLimits } from '../../domain/client-limits.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import { readTagGroups } from '../read-groups.ts';
import { readDataBody } from './data-body.ts';
import { findNamedTag, findNamedTagGroup, notFound } from './find-named.ts';
import { putTag } from './put-tag.ts';
import { putTagGroup } from './put-tag-group.ts';
import { refuse } from './refusal.ts';
import type { OneTag, OneTagGroup } from './tag-forms.ts';
import { oneForm } from './tag-forms.ts';
import { TagGroupTree } from './tag-group-tree.ts';

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
    const limits = await lockClient(tx, caller.clientId);
    const tree = new TagGroupTree(await readTagGroups(tx, caller.clientId));
    if (tag !== undefined) return updateOneTag(tx, request, caller, { tree, limits }, tag);
    if (group !== undefined) return updateOneTagGroup(tx, request, caller, { tree, limits }, group);
    throw new Error('the form lets exactly one entry through');
  });
}

/** What is read of a client with its lock. */
interface Locked {
  readonly tree: TagGroupTree;
  readonly limits: ClientLimits;
}

async function updateOneTag(
  tx: Sql,
  request: HttpRequest,
  caller: Caller,
  { tree, limits }: Locked,
  entry: OneTag,
): Promise<HttpResponse> {
  const before = await findNamedTag(tx, caller.clientId, entry);
  if (before === null) return notFound(request);
  const put = await putTag(tx, caller, tree, {
    before,
    fields: entry,
    path: 'tags.0',
    origin: originOf(request, caller),
    limits,
  });
  return put.ok ? json({ tags: [{ ...entry, id: before.id }] }) : refuse(request, put.refusal);
}

async function updateOneTagGroup(
  tx: Sql,
  request: HttpRequest,
  caller: Caller,
  { tree, limits }: Locked,
  entry: OneTagGroup,
): Promise<HttpResponse> {
  const before = findNamedTagGroup(tree, entry);
  if (before === null) return notFound(request);
  const put = await putTagGroup(tx, caller, tree, {
    before,
    fields: entry,
    path: 'groups.0',
    origin: originOf(request, caller),
    limits,
  });
  return put.ok ? json({ groups: [{ ...entry, id: before.id }] }) : refuse(request, put.refusal);
}
