/**
 * Groups of tags as resources: `/push-admin-api/v3/<client>/groups` and `…/groups/<id>`, nested as
 * their parents say.
 */

import { lockClient } from '../../clients/lock-client.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { AuditOrigin } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { answerList } from '../../http/list-answer.ts';
import { outside } from '../../http/outside.ts';
import { pathId } from '../../http/path-id.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import { readTagGroups } from '../read-groups.ts';
import type { ListedTagGroup } from '../sql/list-groups.ts';
import { listTagGroups, readListedTagGroup } from '../sql/list-groups.ts';
import { notFound } from './find-named.ts';
import { dropTagGroup, putTagGroup } from './put-tag-group.ts';
import type { Outcome } from './refusal.ts';
import { done, refuse, refused } from './refusal.ts';
import type { TagGroupFields } from './tag-forms.ts';
import { groupPatchForm, newGroupForm, OTHER_ID } from './tag-forms.ts';
import { TagGroupTree } from './tag-group-tree.ts';
import { Territory } from './territory.ts';

interface TagGroupResourceParts {
  readonly sql: SqlPool;
  readonly patientReads: PatientReads;
}

/** The list, and what can be done with one group. */
export function tagGroupResourceRoutes(parts: TagGroupResourceParts): readonly ApiRoute[] {
  const path = '/push-admin-api/v3/:client/groups';
  const { sql } = parts;
  const read = { api: 'admin', needs: 'read', bodyBytesMax: 0 } as const;
  const write = { api: 'admin', needs: 'admin', bodyBytesMax: BODY_BYTES_MAX } as const;
  return [
    {
      ...read,
      operation: 'listTagGroups',
      method: 'GET',
      path,
      handle: (request, caller) => list(parts, request, caller),
    },
    {
      ...write,
      operation: 'createTagGroup',
      method: 'POST',
      path,
      handle: (request, caller) => make(sql, request, caller),
    },
    {
      ...read,
      operation: 'getTagGroup',
      method: 'GET',
      path: `${path}/:id`,
      handle: (request, caller) => show(sql, request, caller),
    },
    {
      ...write,
      operation: 'changeTagGroup',
      method: 'PATCH',
      path: `${path}/:id`,
      handle: (request, caller) => change(sql, request, caller),
    },
    {
      ...write,
      operation: 'deleteTagGroup',
      method: 'DELETE',
      path: `${path}/:id`,
      handle: (request, caller) => remove(sql, request, caller),
    },
  ];
}

async function list(
  { patientReads }: TagGroupResourceParts,
  request: HttpRequest,
  { clientId, key: limits }: Caller,
): Promise<HttpResponse> {
  const reader = new QueryReader(request.query, ['limit', 'cursor']);
  const page = { limit: reader.limit(), after: reader.cursor(FIRST) };
  if (reader.faults.length > 0) return invalid(request, reader.faults);
  // All of them may be asked for.
  const read = await patientReads.run(clientId, (patient) =>
    answerList(request, page, {
      read: ([afterId = 0], limit) => listTagGroups(patient, { clientId, limits, afterId, limit }),
      keyOf: ({ id }) => [id],
      show: shown,
    }),
  );
  return read.kind === 'busy' ? tooMuchCounted(request) : read.result;
}

const FIRST: readonly number[] = [0];

async function show(sql: Sql, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const id = pathId(request);
  if (id === null) return notFound(request);
  const { clientId, key } = caller;
  const group = await readListedTagGroup(sql, clientId, id, key);
  if (group !== null) return json(shown(group));
  const isThere = key !== undefined && (await readListedTagGroup(sql, clientId, id, undefined));
  return isThere ? outside(request) : notFound(request);
}

async function make(sql: SqlPool, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const read = readJsonBody(request, newGroupForm);
  if (!read.ok) return read.response;
  const origin = originOf(request, caller);
  const put = await transact(sql, (tx) => putListed(tx, caller, origin, null, read.value));
  return put.ok ? { ...json(shown(put.value)), status: 201 } : refuse(request, put.refusal);
}

async function change(sql: SqlPool, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const id = pathId(request);
  if (id === null) return notFound(request);
  const read = readJsonBody(request, groupPatchForm);
  if (!read.ok) return read.response;
  if ((read.value.id ?? id) !== id) return invalid(request, [OTHER_ID]);
  const origin = originOf(request, caller);
  const put = await transact(sql, (tx) => putListed(tx, caller, origin, id, read.value));
  return put.ok ? json(shown(put.value)) : refuse(request, put.refusal);
}

async function remove(sql: SqlPool, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const id = pathId(request);
  if (id === null) return notFound(request);
  const dropped = await transact(sql, async (tx) => {
    await lockClient(tx, caller.clientId);
    const tree = new TagGroupTree(await readTagGroups(tx, caller.clientId));
    const group = tree.byId(id) ?? null;
    return dropTagGroup(tx, originOf(request, caller), new Territory(caller, tree), group, '');
  });
  return dropped.ok ? { status: 204, body: '' } : refuse(request, dropped.refusal);
}

/** Puts a group, and tells it as lists do. `id`: null makes one. */
async function putListed(
  tx: Sql,
  caller: Caller,
  origin: AuditOrigin,
  id: number | null,
  fields: TagGroupFields,
): Promise<Outcome<ListedTagGroup>> {
  const limits = await lockClient(tx, caller.clientId);
  const tree = new TagGroupTree(await readTagGroups(tx, caller.clientId));
  const before = id === null ? null : (tree.byId(id) ?? null);
  if (before === null && id !== null) return refused({ kind: 'unknown' });
  const put = await putTagGroup(tx, caller, tree, { before, fields, path: '', origin, limits });
  if (!put.ok) return put;
  const { parentId } = put.value;
  const parent = parentId === null ? undefined : tree.byId(parentId);
  return done({ ...put.value, parentSourceId: parent?.sourceId ?? null });
}

/** What a group does not have is left out. */
const shown = (group: ListedTagGroup) => ({
  id: group.id,
  name: group.name,
  sourceId: group.sourceId ?? undefined,
  parentId: group.parentId ?? undefined,
  parentGroupSourceId: group.parentSourceId ?? undefined,
});
