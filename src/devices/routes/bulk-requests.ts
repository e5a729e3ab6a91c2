/**
 * Accepts bulk operations. `apps/<id>/platforms/<platformId>/subscriptions` subscribes a list of
 * devices to tags or unsubscribes it; `tags/<id>/members` copies, moves or removes the members of a
 * tag.
 */

import { z } from 'zod';
import { recordChange } from '../../audit/record-change.ts';
import { findNamedTag } from '../../catalogue/find-named.ts';
import type { ReferencedTag } from '../../catalogue/find-referenced-tags.ts';
import { findReferencedTags } from '../../catalogue/find-referenced-tags.ts';
import { coveredTags } from '../../catalogue/key-limits.ts';
import { readTagById } from '../../catalogue/read-tags.ts';
import { ownApp } from '../../catalogue/routes/own-app.ts';
import { notFound } from '../../catalogue/routes/refusal.ts';
import { sourceId } from '../../catalogue/routes/tag-forms.ts';
import { readTerritory } from '../../catalogue/territory.ts';
import { lockClient } from '../../clients/lock-client.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import { readClock } from '../../database/read-clock.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { BulkAction, BulkChange } from '../../domain/bulk-operation.ts';
import {
  BULK_DEVICES_MAX,
  BULK_OPEN_PER_CLIENT_MAX,
  BULK_TAGS_MAX,
  LIST_ACTIONS,
  MEMBER_ACTIONS,
} from '../../domain/bulk-operation.ts';
import type { Caller } from '../../domain/caller.ts';
import { DEVICE_ID_LENGTH_MAX, isDeviceId } from '../../domain/device.ts';
import type { Tag } from '../../domain/tag.ts';
import { isExpired } from '../../domain/tag.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { id } from '../../http/id-form.ts';
import { invalid, readJsonBody } from '../../http/json-body.ts';
import { outside } from '../../http/outside.ts';
import { pathId } from '../../http/path-id.ts';
import type { Fault } from '../../http/problem.ts';
import { problem } from '../../http/problem.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import { subscribersByApp } from '../../statistics/read-statistics.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { deviceRef } from '../operation.ts';
import type { NewBulkOperation } from '../sql/insert-operation.ts';
import { countOpenBulkOperations, insertBulkOperation } from '../sql/insert-operation.ts';
import { readBulkOperation } from '../sql/read-operations.ts';
import { acceptedBulkOperation } from './bulk-resources.ts';

const DEVICE_ID = `must be a string of 1–${DEVICE_ID_LENGTH_MAX} characters, without NUL`;
const some = <T extends z.ZodType>(entry: T, entriesMax: number) =>
  measured(entriesMax, z.array(entry, 'must be an array').min(1, 'names none').max(entriesMax));

export const subscriptionsForm = strictForm({
  action: z.enum(LIST_ACTIONS, `must be one of ${LIST_ACTIONS.join(', ')}`),
  tagIds: some(id, BULK_TAGS_MAX).optional(),
  tagSourceIds: some(sourceId, BULK_TAGS_MAX).optional(),
  deviceIds: some(z.custom<string>(isDeviceId, DEVICE_ID), BULK_DEVICES_MAX),
})
  .refine(
    ({ tagIds, tagSourceIds }) => tagIds !== undefined || tagSourceIds !== undefined,
    'needs tagIds or tagSourceIds',
  )
  .refine(
    ({ tagIds = [], tagSourceIds = [] }) => tagIds.length + tagSourceIds.length <= BULK_TAGS_MAX,
    `tagIds and tagSourceIds must have ${BULK_TAGS_MAX} entries at most together`,
  );

export const membersForm = strictForm({
  action: z.enum(MEMBER_ACTIONS, `must be one of ${MEMBER_ACTIONS.join(', ')}`),
  toTagId: id.optional(),
  toTagSourceId: sourceId.optional(),
}).refine(
  ({ action, toTagId, toTagSourceId }) =>
    Number(toTagId !== undefined) + Number(toTagSourceId !== undefined) ===
    (action === 'remove' ? 0 : 1),
  'copy and move need toTagId or toTagSourceId, one of them; remove takes neither',
);

interface BulkRequestParts {
  readonly sql: SqlPool;
  readonly patientReads: PatientReads;
}

/** Both answer 202 with the operation. */
export function bulkRequestRoutes(parts: BulkRequestParts): readonly ApiRoute[] {
  const path = '/push-admin-api/v3/:client';
  const shared = { api: 'admin', needs: 'admin', method: 'POST' } as const;
  return [
    {
      ...shared,
      operation: 'changeSubscriptions',
      path: `${path}/apps/:id/platforms/:platform/subscriptions`,
      bodyBytesMax: BODY_BYTES_MAX,
      handle: (request, caller) => changeSubscriptions(parts.sql, request, caller),
    },
    {
      ...shared,
      operation: 'changeMembers',
      path: `${path}/tags/:id/members`,
      bodyBytesMax: BODY_BYTES_MAX,
      handle: (request, caller) => changeMembers(parts, request, caller),
    },
  ];
}

async function changeSubscriptions(
  sql: SqlPool,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const own = await ownApp(sql, request, caller, 'name');
  if (!own.ok) return own.response;
  const platformId = pathId(request, 'platform');
  if (platformId === null || !own.app.platformIds.includes(platformId)) {
    return problem(request.requestId, 404, 'This app is not on this platform.');
  }
  const read = readJsonBody(request, subscriptionsForm);
  if (!read.ok) return read.response;
  const { action, deviceIds } = read.value;
  const appId = own.app.id;
  const keys = deviceIds.map((deviceId) => deviceRef(appId, platformId, deviceId).deviceKey);
  const deviceKeys = [...new Set(keys)];
  return transact(sql, async (tx) => {
    await lockClient(tx, caller.clientId);
    const found = await findTags(tx, request, caller, read.value);
    if (!found.ok) return found.response;
    const faults =
      action === 'unsubscribe'
        ? []
        : found.tags.flatMap(({ path, tag }) => unsubscribable(tag, path, appId));
    if (faults.length > 0) return invalid(request, faults);
    const tagIds = [...new Set(found.tags.map(({ tag }) => tag.id))];
    return await accept(tx, request, caller, {
      action,
      subscribe: action === 'subscribe' ? tagIds : [],
      unsubscribe: action === 'unsubscribe' ? tagIds : [],
      memberOf: null,
      listed: { appId, platformId, deviceKeys },
      appIds: null,
      total: deviceKeys.length,
    });
  });
}

type FoundTags =
  | { readonly ok: true; readonly tags: readonly NamedTag[] }
  | { readonly ok: false; readonly response: HttpResponse };

/** A tag, and where the request names it. */
interface NamedTag {
  readonly path: string;
  readonly tag: ReferencedTag;
}

/** All tags that the request names, if the caller may subscribe devices to them. */
async function findTags(
  tx: Sql,
  request: HttpRequest,
  caller: Caller,
  { tagIds = [], tagSourceIds = [] }: z.infer<typeof subscriptionsForm>,
): Promise<FoundTags> {
  const known = await findReferencedTags(tx, caller.clientId, {
    ids: tagIds,
    sourceIds: tagSourceIds,
  });
  const named = [
    ...tagIds.map((id, at) => ({
      path: `tagIds.${at}`,
      tag: known.find((tag) => tag.id === id),
    })),
    ...tagSourceIds.map((sourceId, at) => ({
      path: `tagSourceIds.${at}`,
      tag: known.find((tag) => tag.sourceId === sourceId),
    })),
  ];
  const covered = new Set((await coveredTags(tx, caller, known)).map(({ id }) => id));
  const tags: NamedTag[] = [];
  const faults: Fault[] = [];
  for (const { path, tag } of named) {
    if (tag === undefined) faults.push({ path, message: NO_TAG });
    else if (covered.has(tag.id)) tags.push({ path, tag });
    else return { ok: false, response: outside(request, path) };
  }
  if (faults.length === 0) return { ok: true, tags };
  return { ok: false, response: invalid(request, faults) };
}

const NO_TAG = 'names no tag of this client';
const EXPIRED = 'names a tag that has expired';

/** Why no device of the app can subscribe to it. */
function unsubscribable(tag: ReferencedTag, path: string, appId: number): readonly Fault[] {
  if (tag.isExpired) return [{ path, message: EXPIRED }];
  if (tag.appIds?.includes(appId) ?? true) return [];
  return [{ path, message: 'names a tag that is not connected to this app' }];
}

async function changeMembers(
  { sql, patientReads }: BulkRequestParts,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const tagId = pathId(request);
  if (tagId === null) return notFound(request);
  const read = readJsonBody(request, membersForm);
  if (!read.ok) return read.response;
  const { action, toTagId, toTagSourceId } = read.value;
  const { clientId } = caller;
  const full = await refusedFull(sql, request, clientId);
  if (full !== null) return full;
  // Sums of years of days: not while the client's lock is held.
  const counted = await patientReads.run(clientId, (patient) =>
    subscribersByApp(patient, { kind: 'tag', id: tagId, clientId }),
  );
  if (counted.kind === 'busy') return tooMuchCounted(request);
  const total = counted.result.reduce((sum, { count }) => sum + count, 0);
  return await transact(sql, async (tx) => {
    await lockClient(tx, clientId);
    const tag = await readTagById(tx, clientId, tagId);
    if (tag === null) return notFound(request);
    const territory = await readTerritory(tx, caller);
    if (!territory.holdsTag(tag)) return outside(request);
    const path = toTagId === undefined ? 'toTagSourceId' : 'toTagId';
    const to = await findNamedTag(tx, clientId, { id: toTagId, sourceId: toTagSourceId });
    if (action !== 'remove') {
      if (to === null) return invalid(request, [{ path, message: NO_TAG }]);
      if (!territory.holdsTag(to)) return outside(request, path);
      if (to.id === tagId) return invalid(request, [{ path, message: 'names the tag itself' }]);
      if (isExpired(to, await readClock(tx))) return invalid(request, [{ path, message: EXPIRED }]);
    }
    return await accept(tx, request, caller, {
      action,
      ...memberChange(action, tagId, to),
      listed: null,
      appIds: tag.appIds,
      total,
    });
  });
}

const memberChange = (action: BulkAction, tagId: number, to: Tag | null): BulkChange => ({
  memberOf: tagId,
  subscribe: to === null ? [] : [to.id],
  unsubscribe: action === 'copy' ? [] : [tagId],
});

/** 429, if the client has as many operations as it may. Only under its lock that is for certain. */
async function refusedFull(
  sql: Sql,
  request: HttpRequest,
  clientId: number,
): Promise<HttpResponse | null> {
  if ((await countOpenBulkOperations(sql, clientId)) < BULK_OPEN_PER_CLIENT_MAX) return null;
  const detail = `This client has ${BULK_OPEN_PER_CLIENT_MAX} operations that have not ended: ask again when one has.`;
  return problem(request.requestId, 429, detail, {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  });
}

/** The caller of it holds the client's lock. */
async function accept(
  tx: Sql,
  request: HttpRequest,
  caller: Caller,
  operation: Omit<NewBulkOperation, 'clientId' | 'userName'>,
): Promise<HttpResponse> {
  const { clientId, userName } = caller;
  const full = await refusedFull(tx, request, clientId);
  if (full !== null) return full;
  const operationId = await insertBulkOperation(tx, { ...operation, clientId, userName });
  const accepted = await readBulkOperation(tx, { clientId, userName: null }, operationId);
  if (accepted === null) throw new Error(`operation ${operationId} is inserted, and not there`);
  const { action, total } = operation;
  await recordChange(tx, originOf(request, caller), {
    action: 'operation.create',
    id: operationId,
    name: null,
    detail: { action, devices: total },
  });
  return acceptedBulkOperation(accepted, caller);
}

/** A list of devices takes a second or so. */
const RETRY_AFTER_SECONDS = '5';
