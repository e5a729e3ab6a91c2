/** `keys`: a client's super user lists, creates and deletes the API keys of the client. */

import { z } from 'zod';
import type { CancelJobs } from '../../access/cancel-jobs.ts';
import { cancelDetail } from '../../access/cancel-jobs.ts';
import { asSuperUser, noSuperUser } from '../../access/routes/as-super-user.ts';
import { readCancelJobs } from '../../access/routes/cancel-jobs.ts';
import type { CredentialRouteParts } from '../../access/routes/credentials.ts';
import { transactAsSuperUser } from '../../access/super-user.ts';
import { recordChange } from '../../audit/record-change.ts';
import { findReferencedTags } from '../../catalogue/find-referenced-tags.ts';
import { listApps } from '../../catalogue/list-apps.ts';
import { readTagGroups } from '../../catalogue/read-groups.ts';
import type { Sql } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { KEY_SCOPES } from '../../domain/caller.ts';
import { ID_MAX, SOURCE_ID_LENGTH_MAX, TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import { originOf } from '../../http/audit-origin.ts';
import { tooMuch } from '../../http/beyond-limit.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { id } from '../../http/id-form.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { LenientReader } from '../../http/lenient.ts';
import { answerList } from '../../http/list-answer.ts';
import { pathId } from '../../http/path-id.ts';
import type { Fault } from '../../http/problem.ts';
import { problem } from '../../http/problem.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { withSecret } from '../../http/with-secret.ts';
import { isNameText, isStorable, NAME_FAULT, STORABLE_FAULT } from '../../std/name-text.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { createKey } from '../keys.ts';
import { deleteKey } from '../sql/delete-key.ts';
import type { ListedKey } from '../sql/list-keys.ts';
import { listKeys } from '../sql/list-keys.ts';

const NAME = 'must have 1–255 characters';
const DEVICES = `must be 1–${ID_MAX}`;
/**
 * Each may be there several times.
 * @limit scopes that the body of a new key names → `400`
 */
const SCOPES_MAX = 32;
const SCOPE = `must be some of ${KEY_SCOPES.join(', ')}`;

/**
 * An empty list is refused: its author meant neither a key without limits nor a key for nothing.
 */
const some = <T extends z.ZodType>(entry: T) =>
  measured(
    TAGS_PER_REQUEST_MAX,
    z
      .array(entry, 'must be an array')
      .min(1, 'names none; leave it out for no limit')
      .max(TAGS_PER_REQUEST_MAX),
  ).optional();

const text = z.string('must be a string').min(1, NAME).max(SOURCE_ID_LENGTH_MAX, NAME);
const sourceId = text.refine(isStorable, STORABLE_FAULT);

export const keyForm = strictForm({
  name: text.refine(isNameText, NAME_FAULT),
  scopes: measured(
    SCOPES_MAX,
    z.array(z.enum(KEY_SCOPES, SCOPE), SCOPE).min(1, SCOPE).max(SCOPES_MAX),
  ),
  tagIds: some(id),
  tagSourceIds: some(sourceId),
  groupIds: some(id),
  groupSourceIds: some(sourceId),
  appIds: some(id),
  maxDevices: z.int(DEVICES).min(1, DEVICES).max(ID_MAX, DEVICES).optional(),
  expiresAt: z.unknown().optional(),
});
type KeyRequest = z.infer<typeof keyForm>;

export interface KeyRouteParts extends CredentialRouteParts {
  readonly cancelJobs: CancelJobs;
}

/** `GET`, `POST` and `DELETE`. */
export function keyRoutes(parts: KeyRouteParts): readonly ApiRoute[] {
  const path = '/push-admin-api/v3/:client/keys';
  const shared = { api: 'admin', needs: 'super-user' } as const;
  return [
    {
      ...shared,
      operation: 'listKeys',
      method: 'GET',
      path,
      bodyBytesMax: 0,
      handle: (request, caller) => list(parts.sql, request, caller),
    },
    {
      ...shared,
      operation: 'createKey',
      method: 'POST',
      path,
      bodyBytesMax: BODY_BYTES_MAX,
      handle: (request, caller) => make(parts, request, caller),
    },
    {
      ...shared,
      operation: 'deleteKey',
      method: 'DELETE',
      path: `${path}/:id`,
      bodyBytesMax: BODY_BYTES_MAX,
      handle: (request, caller) => remove(parts, request, caller),
    },
  ];
}

function list(
  sql: Sql,
  request: HttpRequest,
  { clientId }: Caller,
): HttpResponse | Promise<HttpResponse> {
  const reader = new QueryReader(request.query, ['limit', 'cursor']);
  const page = { limit: reader.limit(), after: reader.cursor(FIRST) };
  if (reader.faults.length > 0) return invalid(request, reader.faults);
  return answerList<ListedKey, readonly number[]>(request, page, {
    read: ([afterId = 0], limit) => listKeys(sql, clientId, { afterId, limit }),
    keyOf: ({ id }) => [id],
    show: withoutNulls,
  });
}

const FIRST: readonly number[] = [0];

async function make(
  { sql, secrets }: CredentialRouteParts,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const { clientId, clientSlug } = caller;
  const read = readJsonBody(request, keyForm);
  if (!read.ok) return read.response;
  const asked = read.value;
  const limits = await resolveLimits(sql, clientId, asked);
  const end = readEnd(asked);
  const faults = [...limits.faults, ...end.faults];
  const { tagIds, groupIds, appIds } = limits;
  if (faults.length > 0) return invalid(request, faults);
  const scopes = KEY_SCOPES.filter((scope) => asked.scopes.includes(scope));
  const rights = { scopes, tagIds, groupIds, appIds, maxDevices: asked.maxDevices ?? null };
  const owner = { clientId, clientSlug, name: asked.name, expiresAtMs: end.expiresAtMs };
  return asSuperUser(sql, request, caller, async (tx, origin) => {
    const made = await createKey(tx, secrets, { ...owner, ...rights });
    if ('over' in made) return tooMuch(request.requestId, made.over);
    const limits = Object.entries({ tagIds, groupIds, appIds, maxDevices: rights.maxDevices });
    const limitedBy = limits.flatMap(([field, limit]) => (limit === null ? [] : [field]));
    const detail = { scopes, ...(limitedBy.length === 0 ? {} : { limitedBy }) };
    const change = { action: 'key.create', id: made.id, name: asked.name, detail } as const;
    await recordChange(tx, origin, change);
    const shown = { ...made, name: asked.name, ...rights, expiresAt: end.expiresAtMs };
    return withSecret({ ...json(withoutNulls(shown)), status: 201 });
  });
}

async function remove(
  { sql, cancelJobs }: KeyRouteParts,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const id = pathId(request);
  const asked = readCancelJobs(request.query);
  if (asked.faults.length > 0) return invalid(request, asked.faults);
  const gone = await transactAsSuperUser(sql, originOf(request, caller), async (tx) => {
    const key = id === null ? null : await deleteKey(tx, caller.clientId, id);
    if (key === null) return null;
    const change = { action: 'key.delete', id, name: key.name, ...cancelDetail(asked) } as const;
    await recordChange(tx, originOf(request, caller), change);
    return key;
  });
  if (gone === 'no-super-user') return noSuperUser(request, caller);
  if (gone === null) return problem(request.requestId, 404, NO_KEY);
  if (asked.cancelJobs) await cancelJobs(caller.clientId, gone.userName);
  return { status: 204, body: '' };
}

const NO_KEY = 'This client has no key with this id.';

interface Limits {
  readonly tagIds: readonly number[] | null;
  readonly groupIds: readonly number[] | null;
  readonly appIds: readonly number[] | null;
  readonly faults: readonly Fault[];
}

/**
 * Resolves the limits to ids: a sourceId may be given to another tag later, but the key stays for
 * the tag that was meant.
 */
async function resolveLimits(sql: Sql, clientId: number, asked: KeyRequest): Promise<Limits> {
  const { tagIds, tagSourceIds, groupIds, groupSourceIds, appIds } = asked;
  const tags = await findReferencedTags(sql, clientId, {
    ids: tagIds ?? [],
    sourceIds: tagSourceIds ?? [],
  });
  const groups = groupIds || groupSourceIds ? await readTagGroups(sql, clientId) : [];
  const apps = appIds ? await listApps(sql, clientId) : [];
  const faults: Fault[] = [];
  const idsOf = (
    known: readonly { readonly id: number; readonly sourceId?: string | null }[],
    named: readonly (readonly [field: string, names: readonly (number | string)[] | undefined])[],
  ): readonly number[] | null => {
    if (named.every(([, names]) => names === undefined)) return null;
    const byName = new Map<unknown, number>();
    for (const { id: known_, sourceId } of known) {
      byName.set(known_, known_);
      if (sourceId) byName.set(sourceId, known_);
    }
    const ids = named.flatMap(([field, names = []]) =>
      names.flatMap((name, index) => {
        const found = byName.get(name);
        if (found !== undefined) return [found];
        faults.push({ path: `${field}.${index}`, message: 'names none of this client' });
        return [];
      }),
    );
    return [...new Set(ids)];
  };
  return {
    tagIds: idsOf(tags, [
      ['tagIds', tagIds],
      ['tagSourceIds', tagSourceIds],
    ]),
    groupIds: idsOf(groups, [
      ['groupIds', groupIds],
      ['groupSourceIds', groupSourceIds],
    ]),
    appIds: idsOf(apps, [['appIds', appIds]]),
    faults,
  };
}

function readEnd(asked: KeyRequest) {
  const reader = new LenientReader({ expiresAt: asked.expiresAt });
  const expiresAtMs = reader.time('expiresAt');
  if (expiresAtMs !== null && expiresAtMs <= Date.now()) {
    reader.fault('expiresAt', 'must not be in the past.');
  }
  return { expiresAtMs, faults: reader.faults };
}

/** Leaves out what a key does not have. */
const withoutNulls = (key: Partial<ListedKey> & object): object =>
  Object.fromEntries(Object.entries(key).filter(([, value]) => value !== null));
