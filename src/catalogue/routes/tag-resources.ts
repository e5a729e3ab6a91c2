/**
 * Tags as resources: `/push-admin-api/v3/<client>/tags` and `…/tags/<id>`. A tag has `appIds` where
 * it is for some of the client's apps only.
 */

import { findOwnApps } from '../../clients/find-app.ts';
import { lockClient } from '../../clients/lock-client.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { AuditOrigin } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Tag } from '../../domain/tag.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { answerList } from '../../http/list-answer.ts';
import { outside } from '../../http/outside.ts';
import { pathId } from '../../http/path-id.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import { coversTag } from '../key-limits.ts';
import { readTagGroups } from '../read-groups.ts';
import { readTagById } from '../read-tags.ts';
import type { ListedTag } from '../sql/list-tags.ts';
import { listTags, readListedTag } from '../sql/list-tags.ts';
import { notFound } from './find-named.ts';
import { dropTag, putTag } from './put-tag.ts';
import type { TakeOff } from './reconnect.ts';
import { connectAfterLeaving } from './reconnect.ts';
import type { Outcome } from './refusal.ts';
import { done, refuse, refused } from './refusal.ts';
import type { TagFields } from './tag-forms.ts';
import { newTagForm, OTHER_ID, tagPatchForm } from './tag-forms.ts';
import { TagGroupTree } from './tag-group-tree.ts';
import { readTerritory } from './territory.ts';

export interface TagResourceParts {
  readonly sql: SqlPool;
  readonly patientReads: PatientReads;
  /** A tag was disconnected from an app: its devices there are to lose it. */
  readonly onDisconnected: (tagId: number) => void;
  readonly takeOff: TakeOff;
}

/** The list, and what can be done with one tag. */
export function tagResourceRoutes(parts: TagResourceParts): readonly ApiRoute[] {
  const path = '/push-admin-api/v3/:client/tags';
  const read = { api: 'admin', needs: 'read', bodyBytesMax: 0 } as const;
  const write = { api: 'admin', needs: 'admin', bodyBytesMax: BODY_BYTES_MAX } as const;
  return [
    {
      ...read,
      operation: 'listTags',
      method: 'GET',
      path,
      handle: (request, caller) => list(parts, request, caller),
    },
    {
      ...write,
      operation: 'createTag',
      method: 'POST',
      path,
      handle: (request, caller) => make(parts.sql, request, caller),
    },
    {
      ...read,
      operation: 'getTag',
      method: 'GET',
      path: `${path}/:id`,
      handle: (request, caller) => show(parts.sql, request, caller),
    },
    {
      ...write,
      operation: 'changeTag',
      method: 'PATCH',
      path: `${path}/:id`,
      handle: (request, caller) => change(parts, request, caller),
    },
    {
      ...write,
      operation: 'deleteTag',
      method: 'DELETE',
      path: `${path}/:id`,
      handle: (request, caller) => remove(parts.sql, request, caller),
    },
  ];
}

async function list(
  { sql, patientReads }: TagResourceParts,
  request: HttpRequest,
  { clientId, key: limits }: Caller,
): Promise<HttpResponse> {
  const reader = new QueryReader(request.query, PARAMETERS);
  const filter = {
    text: reader.text('q'),
    groupId: reader.number('groupId', 0),
    sourceId: reader.text('sourceId'),
    appId: reader.number('appId', 1),
  };
  const page = { limit: reader.limit(), after: reader.cursor(FIRST) };
  if (reader.faults.length > 0) return invalid(request, reader.faults);
  const { appId } = filter;
  if (appId !== null && (await findOwnApps(sql, clientId, [appId])).length === 0) {
    return invalid(request, [{ path: 'appId', message: 'names no app of this client' }]);
  }
  // A text is looked for in all of them, and all of them may be asked for.
  const read = await patientReads.run(clientId, (patient) =>
    answerList(request, page, {
      read: ([afterId = 0], limit) =>
        listTags(patient, { clientId, filter, limits, afterId, limit }),
      keyOf: ({ id }) => [id],
      show: shown,
    }),
  );
  return read.kind === 'busy' ? tooMuchCounted(request) : read.result;
}

const PARAMETERS = ['limit', 'cursor', 'q', 'groupId', 'sourceId', 'appId'] as const;
const FIRST: readonly number[] = [0];

async function show(sql: Sql, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const id = pathId(request);
  const tag = id === null ? null : await readListedTag(sql, caller.clientId, id);
  if (tag === null) return notFound(request);
  return (await coversTag(sql, caller, tag)) ? json(shown(tag)) : outside(request);
}

async function make(sql: SqlPool, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const read = readJsonBody(request, newTagForm);
  if (!read.ok) return read.response;
  const origin = originOf(request, caller);
  const put = await transact(sql, (tx) => putListed(tx, caller, origin, null, read.value));
  return put.ok ? { ...json(shown(put.value.tag)), status: 201 } : refuse(request, put.refusal);
}

async function change(
  { sql, onDisconnected, takeOff }: TagResourceParts,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const id = pathId(request);
  if (id === null) return notFound(request);
  const read = readJsonBody(request, tagPatchForm);
  if (!read.ok) return read.response;
  if ((read.value.id ?? id) !== id) return invalid(request, [OTHER_ID]);
  const origin = originOf(request, caller);
  const put = await connectAfterLeaving(takeOff, () =>
    transact(sql, (tx) => putListed(tx, caller, origin, id, read.value)),
  );
  if (!put.ok) return refuse(request, put.refusal);
  if (put.value.isDisconnected) onDisconnected(id);
  return json(shown(put.value.tag));
}

async function remove(sql: SqlPool, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const id = pathId(request);
  if (id === null) return notFound(request);
  const dropped = await transact(sql, async (tx) => {
    await lockClient(tx, caller.clientId);
    const tag = await readTagById(tx, caller.clientId, id);
    const territory = await readTerritory(tx, caller);
    return dropTag(tx, originOf(request, caller), territory, tag, '');
  });
  return dropped.ok ? { status: 204, body: '' } : refuse(request, dropped.refusal);
}

interface PutTag {
  readonly tag: ListedTag;
  readonly isDisconnected: boolean;
}

/** Puts a tag, and tells it as lists do. `id`: null makes one. */
async function putListed(
  tx: Sql,
  caller: Caller,
  origin: AuditOrigin,
  id: number | null,
  fields: TagFields,
): Promise<Outcome<PutTag>> {
  const limits = await lockClient(tx, caller.clientId);
  const before = id === null ? null : await readTagById(tx, caller.clientId, id);
  if (before === null && id !== null) return refused({ kind: 'unknown' });
  const tree = new TagGroupTree(await readTagGroups(tx, caller.clientId));
  const put = await putTag(tx, caller, tree, { before, fields, path: '', origin, limits });
  if (!put.ok) return put;
  const { groupId } = put.value;
  const group = groupId === null ? undefined : tree.byId(groupId);
  const tag = { ...put.value, groupSourceId: group?.sourceId ?? null };
  return done({ tag, isDisconnected: before !== null && losesApp(before, tag) });
}

/** Whether some app had the tag and has it no more. */
const losesApp = (before: Tag, { appIds }: Tag): boolean =>
  appIds !== null && (before.appIds === null || before.appIds.some((id) => !appIds.includes(id)));

/** What a tag does not have is left out. */
const shown = (tag: ListedTag) => ({
  id: tag.id,
  name: tag.name,
  sourceId: tag.sourceId ?? undefined,
  groupId: tag.groupId ?? undefined,
  groupSourceId: tag.groupSourceId ?? undefined,
  expiration: tag.expiresAtMs ?? undefined,
  tagOptionalParameters: tag.optionalParameters ?? undefined,
  appIds: tag.appIds ?? undefined,
});
