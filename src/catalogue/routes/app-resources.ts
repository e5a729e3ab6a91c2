/** Apps as resources: `/push-admin-api/v3/<client>/apps` and `…/apps/<id>`. */

import { z } from 'zod';
import { inClient, inClientUnless } from '../../access/routes/in-client.ts';
import { asMade } from '../../access/routes/made-credential.ts';
import type { Secrets } from '../../access/secrets.ts';
import { raiseCatalogueVersion } from '../../clients/lock-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { isPlatformId } from '../../domain/device.ts';
import { TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import { created, listed, noContent, secret, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { id as idForm } from '../../http/id-form.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { id, platformId } from '../../http/openapi/parts.ts';
import type { QueryParameter } from '../../http/parameters.ts';
import { cursorFrom, LIMIT, pathId, text } from '../../http/parameters.ts';
import { outsideOfLimits } from '../../http/permission.ts';
import { done, refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { dropApp, makeApp } from '../apps.ts';
import { addPlatforms, renameApp } from '../sql/change-app.ts';
import { listAppsById } from '../sql/read-apps.ts';
import { PLATFORM_FAULT, platformIdForm } from './app-forms.ts';
import { findOwnApp } from './own-app.ts';
import { appRefusal, NO_APP } from './refusal.ts';
import { anyId, name, OTHER_ID } from './tag-forms.ts';

interface AppResourceParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
}

/** None is refused: an app on no platform has no devices. */
const platformIds = measured(
  TAGS_PER_REQUEST_MAX,
  z
    .array(platformIdForm, 'must be an array of platforms')
    .min(1, 'names no platform')
    .max(TAGS_PER_REQUEST_MAX),
).transform((ids) => [...new Set(ids)].sort((one, other) => one - other));

export const newAppForm = strictForm({ id: anyId, name, platformIds });
export const appPatchForm = strictForm({
  id: idForm.optional(),
  name: name.optional(),
  platformIds: platformIds.optional(),
});

export const app = z
  .object({ id, name: z.string(), platformIds: z.array(platformId) })
  .meta({ id: 'App' });
const apiUser = z.object({ userName: z.string(), password: z.string(), token: z.string() }).meta({
  description:
    'The credential for the App API. It is shown this once; `rotateCredential` makes another one.',
});
const APP = { id: 1, name: 'Demo', platformIds: [3, 15] };

const APPS = '/push-admin-api/v3/:client/apps';
const reads = routesAt(APPS, { api: 'admin', needs: 'read' });
const changes = routesAt(APPS, { api: 'admin', needs: 'admin' });
/** An app outlives the credential of its maker. */
const lasting = routesAt(APPS, { api: 'admin', needs: 'admin', isForSuccessor: true });
const path = { id: pathId('app', 1) };

export const appResourceRoutes = (parts: AppResourceParts): readonly Route[] =>
  [listRoute, createRoute, getRoute, changeRoute, deleteRoute].map((make) => make(parts));

const onPlatform: QueryParameter<number | null> = {
  description: 'On this platform.',
  schema: platformId,
  example: 3,
  read(reader, name) {
    const id = reader.number(name, 1);
    if (id !== null && !isPlatformId(id)) reader.fault(name, PLATFORM_FAULT);
    return id;
  },
};

const listRoute = ({ sql }: AppResourceParts) =>
  reads.get(
    'listApps',
    {
      summary: 'List apps, by id',
      description:
        'A key that is limited to apps sees and changes these. One that is limited to tags or groups sees all and changes none. Neither makes one.',
      query: {
        limit: LIMIT,
        cursor: cursorFrom([0]),
        q: text('With this text in the name.', 'news'),
        platformId: onPlatform,
      },
      answer: listed('The apps.', app, [APP]),
    },
    ({ caller: { clientId, key }, query }) => {
      const { q, platformId } = query;
      const filter = { text: q, platformId, appIds: key?.appIds ?? null };
      return rowsOf(query, {
        read: ([afterId = 0], limit) => listAppsById(sql, { clientId, ...filter, afterId, limit }),
        keyOf: ({ id }) => [id],
      });
    },
  );

const createRoute = ({ sql, secrets }: AppResourceParts) =>
  lasting.post(
    'createApp',
    {
      summary: 'Make an app',
      description: 'A client may have 1,000, or what its operator sets: else `403`.',
      body: form(newAppForm, { name: 'News', platformIds: [3, 15] }),
      answer: secret(
        created('Made, with its API user.', app.extend({ apiUser }), {
          id: 13,
          name: 'News',
          platformIds: [3, 15],
          apiUser: { userName: 'demo-app-13-4h1p9sxw', password: '…', token: 'tca_…' },
        }),
      ),
    },
    inClientUnless(
      sql,
      outsideOfLimits,
      async (tx, { clientId, record }, { caller, body: { name, platformIds } }) => {
        const { clientSlug } = caller;
        const made = await makeApp(
          tx,
          secrets,
          { clientId, clientSlug, name, platformIds },
          record,
        );
        if (!made.ok) return appRefusal(made.refusal);
        const { id, credential } = made;
        return done({ id, name, platformIds, apiUser: asMade(credential) });
      },
    ),
  );

const getRoute = ({ sql }: AppResourceParts) =>
  reads.get(
    'getApp',
    { at: ':id', summary: 'One app', path, answer: shown('The app.', app, APP) },
    ({ caller, path: { id } }) => findOwnApp(sql, caller, id, 'name'),
  );

const changeRoute = ({ sql }: AppResourceParts) =>
  changes.patch(
    'changeApp',
    {
      at: ':id',
      summary: 'Rename an app, or put it on further platforms',
      description:
        '`platformIds` adds platforms; one that the app is on cannot be left out: `400`.',
      path,
      body: form(appPatchForm, { name: 'Demo' }),
      answer: shown('Changed.', app, APP),
    },
    inClient(sql, async (tx, { clientId, record }, { caller, path: { id }, body }) => {
      const own = await findOwnApp(tx, caller, id);
      if (!own.ok) return own;
      if ((body.id ?? id) !== id) return refuse.invalid([OTHER_ID]);
      const before = own.value;
      const { name = before.name, platformIds = before.platformIds } = body;
      const left = before.platformIds.filter((platformId) => !platformIds.includes(platformId));
      if (left.length > 0) return refuse.invalid([staysOn(left)]);
      const added = platformIds.filter((platformId) => !before.platformIds.includes(platformId));
      const fields = [
        ...(name === before.name ? [] : ['name']),
        ...(added.length === 0 ? [] : ['platformIds']),
      ];
      // A request without a change must not empty the caches.
      if (fields.length === 0) return own;
      await renameApp(tx, id, name);
      await addPlatforms(tx, id, added);
      await raiseCatalogueVersion(tx, clientId);
      await record({ action: 'app.change', id, name, detail: { fields } });
      return done({ id, name, platformIds });
    }),
  );

/** A platform has devices: they go with the app only. */
const staysOn = (platformIds: readonly number[]) => ({
  path: 'platformIds',
  message: `leaves out ${platformIds.join(', ')}; an app stays on the platforms that it is on`,
});

const deleteRoute = ({ sql }: AppResourceParts) =>
  lasting.delete(
    'deleteApp',
    {
      at: ':id',
      summary: 'Delete an app with all its data',
      description:
        'For the super user, and keys without limits. It is gone at once: its API user is refused within a second, nobody registers for it or sends to it, and its provider credentials are deleted. Its devices are erased in the background, a piece at a time, then its part of push jobs that have ended (a job that was for this app only is deleted), then the rest, 5 minutes later. Sends to other apps go on; of a job that is under way, what was still to be sent there ends `failed` with `MissingCredential`. `listRemovals` shows what is left. A job that is paused keeps its counts of the app, and the app in that list, until it ends. Tags that were for this app only are then for none.',
      path,
      answer: noContent('Deleted.'),
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, { path: { id } }) => {
      const name = await dropApp(tx, clientId, id);
      if (name === null) return NO_APP;
      await record({ action: 'app.delete', id, name });
      return done(null);
    }),
  );
