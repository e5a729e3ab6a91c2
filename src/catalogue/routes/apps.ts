/**
 * Apps as existing clients ask for them (internals/existing-clients.md, "Admin API"): a row per
 * platform of each app, with parameters that are returned unread.
 */

import { z } from 'zod';
import { isObject } from '../../../packages/std/src/json.ts';
import { identityOf } from '../../access/credentials.ts';
import { inClient, inClientUnless } from '../../access/routes/in-client.ts';
import type { Secrets } from '../../access/secrets.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { SqlPool } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { listed, secret, shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { id as idForm } from '../../http/id-form.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { id, platformId } from '../../http/openapi/parts.ts';
import { outsideOfLimits } from '../../http/permission.ts';
import { done } from '../../http/result.ts';
import type { Asked } from '../../http/route.ts';
import { routesAt } from '../../http/route.ts';
import { strictForm } from '../../std/strict-form.ts';
import { dropApp, makeApp } from '../apps.ts';
import { connectTags, tagsToConnect } from '../connect-tags.ts';
import type { TakeOff } from '../reconnect.ts';
import { connectAfterLeaving } from '../reconnect.ts';
import { writeParameters } from '../sql/change-app.ts';
import type { AppPlatform } from '../sql/list-app-platforms.ts';
import { listAppPlatforms } from '../sql/list-app-platforms.ts';
import { updateApp } from '../update-app.ts';
import { parameters, platformIdForm, tags } from './app-forms.ts';
import { dataForm } from './data-body.ts';
import { patientRows } from './patient-rows.ts';
import { appRefusal, NO_APP, resultOf } from './refusal.ts';
import { anyId, name } from './tag-forms.ts';

interface AppRouteParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  readonly patientReads: PatientReads;
  readonly takeOff: TakeOff;
}

/** Fields of answers that clients post back, such as `apiUser`: not read. */
const published = {
  parameters: parameters.nullish(),
  tags,
  apiUser: z.unknown().optional(),
};
export const addAppForm = strictForm({ id: anyId, name, platformId: platformIdForm, ...published });
export const updateAppForm = strictForm({
  id: idForm,
  name: name.optional(),
  platformId: platformIdForm.optional(),
  ...published,
});
/** Rows of a list are sent back, too. */
const deleteAppForm = strictForm({
  id: idForm,
  name: z.unknown().optional(),
  platformId: z.unknown().optional(),
  ...published,
});

const publishedApp = z
  .object({
    id,
    name: z.string(),
    platformId,
    // A record of zod would leave out the name `__proto__`.
    parameters: z.custom<object>(isObject).meta({
      type: 'object',
      propertyNames: { type: 'string' },
      additionalProperties: {},
      description: 'As they were given.',
    }),
    apiUser: z
      .object({ accessToken: z.string() })
      .optional()
      .meta({ description: 'For the super user only.' }),
  })
  .meta({ id: 'PublishedApp', description: 'An app on one of its platforms.' });
const APP = {
  id: 1,
  name: 'Demo',
  platformId: 3,
  parameters: {},
  apiUser: { accessToken: 'tca_…' },
};

const at = <Verb extends string>(verb: Verb) => `/push-admin-api/app/${verb}/:client`;
/** An app outlives the credential of its maker. */
const lasting = { api: 'admin', needs: 'admin', isForSuccessor: true } as const;

/** `app/get`, `app/add`, `app/update` and `app/delete`. */
export const appRoutes = (parts: AppRouteParts): readonly Route[] =>
  [getRoute, addRoute, updateRoute, deleteRoute].map((make) => make(parts));

const getRoute = ({ secrets, patientReads }: AppRouteParts) =>
  routesAt(at('get'), { api: 'admin', needs: 'read' }).get(
    'getPublishedApps',
    {
      summary: 'All apps, one row for each platform',
      answer: secret({ ...listed('The rows.', publishedApp, [APP]), headers: {} }),
    },
    ({ caller }) => {
      const { clientId, key } = caller;
      const shownRow = rowFor(caller, secrets);
      return patientRows(patientReads, clientId, (sql) =>
        rowsOf<z.infer<typeof publishedApp>, readonly number[]>(
          { limit: null, cursor: [0, 0] },
          {
            async read([afterId = 0, afterPlatformId = 0], limit) {
              const behind = { afterId, afterPlatformId, limit };
              const appIds = key?.appIds ?? null;
              return (await listAppPlatforms(sql, { clientId, appIds, ...behind })).map(shownRow);
            },
            keyOf: ({ id, platformId }) => [id, platformId],
          },
        ),
      );
    },
  );

const addRoute = ({ sql, secrets }: AppRouteParts) =>
  routesAt(at('add'), lasting).post(
    'addPublishedApp',
    {
      summary: 'Make an app on one platform',
      description:
        '`tags`, by `id` or `sourceId`, are connected to it; a tag without `appIds` is connected to every app already. An unknown tag is `400`, and nothing happens.',
      body: dataForm(addAppForm, { name: 'News', platformId: 3 }),
      problems: [404],
      answer: secret(shown('Made.', publishedApp, APP)),
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, { caller, body }) => {
      const { name, platformId, parameters = null, tags } = body;
      const connected = await tagsToConnect(tx, caller, null, tags);
      if (!connected.ok) return resultOf(connected);
      const { clientSlug } = caller;
      const app = { clientId, clientSlug, name, platformIds: [platformId] };
      const made = await makeApp(tx, secrets, app, record);
      if (!made.ok) return appRefusal(made.refusal);
      const { id, credential } = made;
      await connectTags(tx, clientId, id, connected.value);
      if (parameters !== null) await writeParameters(tx, { appId: id, platformId }, parameters);
      const apiUser = { accessToken: credential.token };
      return done({ id, name, platformId, parameters: parameters ?? {}, apiUser });
    }),
  );

type Update = z.infer<typeof updateAppForm>;

const updateRoute = ({ sql, secrets, takeOff }: AppRouteParts) => {
  const update = connectAfterLeaving(
    takeOff,
    inClient(sql, (tx, { record }, { caller, body }: Asked<Caller, unknown, unknown, Update>) =>
      updateApp(tx, caller, record, body),
    ),
  );
  return routesAt(at('update'), { api: 'admin', needs: 'admin' }).post(
    'updatePublishedApp',
    {
      summary: 'Change an app',
      description:
        'What is absent stays, and `"parameters": null` clears. An app on several platforms needs `platformId` too. `tags` are connected to it; none is disconnected. `409`: its devices have not lost yet what they had of a tag that was disconnected.',
      body: dataForm(updateAppForm, { id: 1, platformId: 3, name: 'Demo' }),
      problems: [404, 409],
      answer: secret(shown('Changed.', publishedApp, APP)),
    },
    async (asked) => {
      const changed = resultOf(await update(asked));
      if (!changed.ok) return changed;
      return changed.value === null ? NO_APP : done(rowFor(asked.caller, secrets)(changed.value));
    },
  );
};

const deleteRoute = ({ sql }: AppRouteParts) =>
  routesAt(at('delete'), lasting).post(
    'deletePublishedApp',
    {
      summary: 'Delete an app, as existing clients ask',
      description: 'The same as `deleteApp`.',
      body: dataForm(deleteAppForm, { id: 1 }),
      problems: [404],
      answer: shown('Deleted.', z.object({ id }), { id: 1 }),
    },
    inClientUnless(sql, outsideOfLimits, async (tx, { clientId, record }, { body: { id } }) => {
      const name = await dropApp(tx, clientId, id);
      if (name === null) return NO_APP;
      await record({ action: 'app.delete', id, name });
      return done({ id });
    }),
  );

/** The token is for the super user only, who may see it in the console too. */
const rowFor =
  ({ key }: Caller, secrets: Secrets) =>
  ({ apiUser, parameters, ...row }: AppPlatform): z.infer<typeof publishedApp> => {
    const shownRow = { ...row, parameters: parameters ?? {} };
    if (apiUser === null || key !== undefined) return shownRow;
    const { username, tokenSealed, keyId } = apiUser;
    const token = secrets.open(tokenSealed, keyId, identityOf(username, 'token'));
    return token.kind === 'opened'
      ? { ...shownRow, apiUser: { accessToken: token.plain } }
      : shownRow;
  };
