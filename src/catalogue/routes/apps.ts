/**
 * Apps as existing clients of the public service ask for them (internals/existing-clients.md,
 * "Admin API"): a row for each platform of each app, with parameters that are kept and returned
 * unread.
 */

import type { z } from 'zod';
import { identityOf } from '../../access/credentials.ts';
import type { Secrets } from '../../access/secrets.ts';
import { recordChange } from '../../audit/record-change.ts';
import { lockClient, raiseCatalogueVersion } from '../../clients/lock-client.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { AuditOrigin } from '../../domain/audit.ts';
import { changedFields } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import { coversApp, isLimited } from '../../domain/caller.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import { answerList } from '../../http/list-answer.ts';
import { outside } from '../../http/outside.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import { withSecret } from '../../http/with-secret.ts';
import { makeApp } from '../apps.ts';
import { renameApp, writeParameters } from '../sql/change-app.ts';
import type { AppPlatform } from '../sql/list-app-platforms.ts';
import { listAppPlatforms } from '../sql/list-app-platforms.ts';
import type { App } from '../sql/read-apps.ts';
import { readApp } from '../sql/read-apps.ts';
import { addAppForm, deleteAppForm, updateAppForm } from './app-forms.ts';
import { connectTags, tagsToConnect } from './connect-tags.ts';
import { readDataBody } from './data-body.ts';
import { dropApp } from './drop-app.ts';
import { isForTags, noApp } from './own-app.ts';
import type { TakeOff } from './reconnect.ts';
import { connectAfterLeaving } from './reconnect.ts';
import type { Outcome } from './refusal.ts';
import { appRefusal, done, refuse, refused } from './refusal.ts';

interface AppRouteParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  readonly patientReads: PatientReads;
  readonly takeOff: TakeOff;
}

/** `app/get`, `app/add`, `app/update` and `app/delete`. */
export function appRoutes(parts: AppRouteParts): readonly ApiRoute[] {
  const path = '/push-admin-api/app';
  const write = { api: 'admin', needs: 'admin', bodyBytesMax: BODY_BYTES_MAX } as const;
  return [
    {
      operation: 'getPublishedApps',
      api: 'admin',
      needs: 'read',
      method: 'GET',
      path: `${path}/get/:client`,
      bodyBytesMax: 0,
      handle: (request, caller) => list(parts, request, caller),
    },
    {
      ...write,
      operation: 'addPublishedApp',
      isForSuccessor: true,
      method: 'POST',
      path: `${path}/add/:client`,
      handle: (request, caller) => add(parts, request, caller),
    },
    {
      ...write,
      operation: 'updatePublishedApp',
      method: 'POST',
      path: `${path}/update/:client`,
      handle: (request, caller) => update(parts, request, caller),
    },
    {
      ...write,
      operation: 'deletePublishedApp',
      isForSuccessor: true,
      method: 'POST',
      path: `${path}/delete/:client`,
      handle: (request, caller) => remove(parts, request, caller),
    },
  ];
}

/** All of them, as the public service lists them. */
async function list(
  { secrets, patientReads }: AppRouteParts,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const { clientId, key } = caller;
  const appIds = key?.appIds ?? null;
  const read = await patientReads.run(clientId, (patient) =>
    answerList<AppPlatform, readonly number[]>(
      request,
      { limit: null, after: [0, 0] },
      {
        read: ([afterId = 0, afterPlatformId = 0], limit) =>
          listAppPlatforms(patient, { clientId, appIds, afterId, afterPlatformId, limit }),
        keyOf: ({ id, platformId }) => [id, platformId],
        show: (row) => shown(row, tokenOf(row, secrets, caller)),
      },
    ),
  );
  return read.kind === 'busy' ? tooMuchCounted(request) : withSecret(read.result);
}

async function add(
  { sql, secrets }: AppRouteParts,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const read = readDataBody(request, addAppForm);
  if (!read.ok) return read.response;
  if (isLimited(caller)) return outside(request);
  const { name, platformId, parameters = null, tags } = read.value;
  const { clientId, clientSlug } = caller;
  const added = await transact(sql, async (tx) => {
    await lockClient(tx, clientId);
    const connected = await tagsToConnect(tx, caller, null, tags);
    if (!connected.ok) return connected;
    const app = { clientId, clientSlug, name, platformIds: [platformId] };
    const made = await makeApp(tx, secrets, app);
    if (!made.ok) return refused(appRefusal(made.refusal));
    const { id, credential } = made;
    await connectTags(tx, clientId, id, connected.value);
    if (parameters !== null) await writeParameters(tx, { appId: id, platformId }, parameters);
    await recordChange(tx, originOf(request, caller), { action: 'app.create', id, name });
    return done(shown({ id, name, platformId, parameters }, credential.token));
  });
  return added.ok ? withSecret(json(added.value)) : refuse(request, added.refusal);
}

async function update(
  { sql, secrets, takeOff }: AppRouteParts,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const read = readDataBody(request, updateAppForm);
  if (!read.ok) return read.response;
  const { id } = read.value;
  const changed = await connectAfterLeaving(takeOff, () =>
    transact(sql, async (tx) => {
      await lockClient(tx, caller.clientId);
      const app = await readApp(tx, caller.clientId, id);
      if (app === null) return done(null);
      if (!coversApp(caller, id) || isForTags(caller)) {
        return refused({ kind: 'outside', path: 'id' });
      }
      return await change(tx, caller, originOf(request, caller), app, read.value);
    }),
  );
  if (!changed.ok) return refuse(request, changed.refusal);
  if (changed.value === null) return noApp(request);
  return withSecret(json(shown(changed.value, tokenOf(changed.value, secrets, caller))));
}

/** On the platform that the request names, or the only one that the app is on. */
async function change(
  tx: Sql,
  caller: Caller,
  origin: AuditOrigin,
  app: App,
  { name = app.name, platformId, parameters, tags }: z.infer<typeof updateAppForm>,
): Promise<Outcome<AppPlatform>> {
  const { clientId } = caller;
  const { id, platformIds } = app;
  const on = platformId ?? (platformIds.length === 1 ? platformIds[0] : undefined);
  if (on === undefined || !platformIds.includes(on)) {
    const message = `must be one that the app is on: ${platformIds.join(', ')}`;
    return refused({ kind: 'invalid', faults: [{ path: 'platformId', message }] });
  }
  const connected = await tagsToConnect(tx, caller, id, tags);
  if (!connected.ok) return connected;
  const readRow = async (): Promise<AppPlatform> => {
    const behind = { afterId: id, afterPlatformId: on - 1 };
    const [row] = await listAppPlatforms(tx, { clientId, appIds: [id], ...behind, limit: 1 });
    if (row === undefined) throw new Error(`app ${id} is locked, and not there`);
    return row;
  };
  const before = await readRow();
  await connectTags(tx, clientId, id, connected.value);
  if (parameters !== undefined) {
    await writeParameters(tx, { appId: id, platformId: on }, parameters);
  }
  if (name !== app.name) {
    await renameApp(tx, id, name);
    await raiseCatalogueVersion(tx, clientId);
  }
  const after = await readRow();
  const areTagsChanged = connected.value.some(({ appIds }) => appIds !== null);
  const fields = [...changedFields(before, after), ...(areTagsChanged ? ['tags'] : [])];
  if (fields.length > 0) {
    await recordChange(tx, origin, { action: 'app.change', id, name, detail: { fields } });
  }
  return done(after);
}

function remove(
  { sql }: AppRouteParts,
  request: HttpRequest,
  caller: Caller,
): HttpResponse | Promise<HttpResponse> {
  const read = readDataBody(request, deleteAppForm);
  if (!read.ok) return read.response;
  const { id } = read.value;
  return dropApp(sql, request, caller, id, json({ id }));
}

/** For the super user, who may see it in the console too. Null: not for this caller, or none. */
function tokenOf({ apiUser }: AppPlatform, secrets: Secrets, { key }: Caller): string | null {
  if (apiUser === null || key !== undefined) return null;
  const { username, tokenSealed, keyId } = apiUser;
  const opened = secrets.open(tokenSealed, keyId, identityOf(username, 'token'));
  return opened.kind === 'opened' ? opened.plain : null;
}

const shown = (
  { id, name, platformId, parameters }: Omit<AppPlatform, 'apiUser'>,
  accessToken: string | null,
) => ({
  id,
  name,
  platformId,
  parameters: parameters ?? {},
  ...(accessToken === null ? {} : { apiUser: { accessToken } }),
});
