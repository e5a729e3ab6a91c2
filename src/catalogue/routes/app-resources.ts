/** Apps as resources: `/push-admin-api/v3/<client>/apps` and `…/apps/<id>`. */

import type { Secrets } from '../../access/secrets.ts';
import { recordChange } from '../../audit/record-change.ts';
import { lockClient, raiseCatalogueVersion } from '../../clients/lock-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { Caller } from '../../domain/caller.ts';
import { isLimited } from '../../domain/caller.ts';
import { isPlatformId } from '../../domain/device.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { answerList } from '../../http/list-answer.ts';
import { outside } from '../../http/outside.ts';
import { pathId } from '../../http/path-id.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { withSecret } from '../../http/with-secret.ts';
import { makeApp } from '../apps.ts';
import { addPlatforms, renameApp } from '../sql/change-app.ts';
import type { App } from '../sql/read-apps.ts';
import { listAppsById, readApp } from '../sql/read-apps.ts';
import { appPatchForm, newAppForm, PLATFORM_FAULT } from './app-forms.ts';
import { dropApp } from './drop-app.ts';
import { noApp, ownApp } from './own-app.ts';
import { appRefusal, refuse } from './refusal.ts';
import { OTHER_ID } from './tag-forms.ts';

interface AppResourceParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
}

/** The list, and what can be done with one app. */
export function appResourceRoutes(parts: AppResourceParts): readonly ApiRoute[] {
  const path = '/push-admin-api/v3/:client/apps';
  const { sql } = parts;
  const read = { api: 'admin', needs: 'read', bodyBytesMax: 0 } as const;
  const write = { api: 'admin', needs: 'admin', bodyBytesMax: BODY_BYTES_MAX } as const;
  return [
    {
      ...read,
      operation: 'listApps',
      method: 'GET',
      path,
      handle: (request, caller) => list(sql, request, caller),
    },
    {
      ...write,
      operation: 'createApp',
      isForSuccessor: true,
      method: 'POST',
      path,
      handle: (request, caller) => make(parts, request, caller),
    },
    {
      ...read,
      operation: 'getApp',
      method: 'GET',
      path: `${path}/:id`,
      async handle(request, caller) {
        const own = await ownApp(sql, request, caller, 'name');
        return own.ok ? json(own.app) : own.response;
      },
    },
    {
      ...write,
      operation: 'changeApp',
      method: 'PATCH',
      path: `${path}/:id`,
      handle: (request, caller) => change(sql, request, caller),
    },
    {
      ...write,
      operation: 'deleteApp',
      isForSuccessor: true,
      method: 'DELETE',
      path: `${path}/:id`,
      handle: (request, caller) =>
        dropApp(sql, request, caller, pathId(request), { status: 204, body: '' }),
    },
  ];
}

function list(
  sql: Sql,
  request: HttpRequest,
  { clientId, key }: Caller,
): HttpResponse | Promise<HttpResponse> {
  const reader = new QueryReader(request.query, ['limit', 'cursor', 'q', 'platformId']);
  const filter = { text: reader.text('q'), platformId: reader.number('platformId', 1) };
  if (filter.platformId !== null && !isPlatformId(filter.platformId)) {
    reader.fault('platformId', PLATFORM_FAULT);
  }
  const page = { limit: reader.limit(), after: reader.cursor(FIRST) };
  if (reader.faults.length > 0) return invalid(request, reader.faults);
  const appIds = key?.appIds ?? null;
  return answerList<App, readonly number[]>(request, page, {
    read: ([afterId = 0], limit) =>
      listAppsById(sql, { clientId, ...filter, appIds, afterId, limit }),
    keyOf: ({ id }) => [id],
    show: (app) => app,
  });
}

const FIRST: readonly number[] = [0];

/** A key with limits makes no app: it would be outside of them. */
async function make(
  { sql, secrets }: AppResourceParts,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const read = readJsonBody(request, newAppForm);
  if (!read.ok) return read.response;
  if (isLimited(caller)) return outside(request);
  const { name, platformIds } = read.value;
  const { clientId, clientSlug } = caller;
  const made = await transact(sql, async (tx) => {
    const app = await makeApp(tx, secrets, { clientId, clientSlug, name, platformIds });
    if (!app.ok) return app;
    await recordChange(tx, originOf(request, caller), { action: 'app.create', id: app.id, name });
    return app;
  });
  if (!made.ok) return refuse(request, appRefusal(made.refusal));
  const { username, password, token } = made.credential;
  const apiUser = { userName: username, password, token };
  return withSecret({ ...json({ id: made.id, name, platformIds, apiUser }), status: 201 });
}

async function change(sql: SqlPool, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const own = await ownApp(sql, request, caller);
  if (!own.ok) return own.response;
  const read = readJsonBody(request, appPatchForm);
  if (!read.ok) return read.response;
  const { id } = own.app;
  if ((read.value.id ?? id) !== id) return invalid(request, [OTHER_ID]);
  return transact(sql, async (tx) => {
    await lockClient(tx, caller.clientId);
    const app = await readApp(tx, caller.clientId, id);
    if (app === null) return noApp(request);
    const { name = app.name, platformIds = app.platformIds } = read.value;
    const left = app.platformIds.filter((platformId) => !platformIds.includes(platformId));
    if (left.length > 0) return invalid(request, [staysOn(left)]);
    const added = platformIds.filter((platformId) => !app.platformIds.includes(platformId));
    // What changes nothing must not empty the caches.
    if (name === app.name && added.length === 0) return json(app);
    await renameApp(tx, id, name);
    await addPlatforms(tx, id, added);
    await raiseCatalogueVersion(tx, caller.clientId);
    const fields = [
      ...(name === app.name ? [] : ['name']),
      ...(added.length === 0 ? [] : ['platformIds']),
    ];
    const change = { action: 'app.change', id, name, detail: { fields } } as const;
    await recordChange(tx, originOf(request, caller), change);
    return json({ id, name, platformIds });
  });
}

/** A platform has devices: they go with the app only. */
const staysOn = (platformIds: readonly number[]) => ({
  path: 'platformIds',
  message: `leaves out ${platformIds.join(', ')}; an app stays on the platforms that it is on`,
});
