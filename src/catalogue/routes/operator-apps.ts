/** The operator's routes of a client's apps: which there are, and one more. */

import { z } from 'zod';
import { secretKeyFault } from '../../access/credentials.ts';
import { asMade, MADE_CREDENTIAL, madeCredential } from '../../access/routes/made-credential.ts';
import { inNamedClient, noClient } from '../../access/routes/named-client.ts';
import type { Secrets } from '../../access/secrets.ts';
import { findClient } from '../../clients/find-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { created, secret, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { id, platformId } from '../../http/openapi/parts.ts';
import { clientId } from '../../http/parameters.ts';
import { done, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { makeApp } from '../apps.ts';
import { listApps } from '../list-apps.ts';
import { app, newAppForm } from './app-resources.ts';
import { appRefusal } from './refusal.ts';

interface Parts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
}

const platform = z.object({
  platformId,
  hasCredential: z.boolean(),
  isRefused: z.boolean().meta({ description: 'The provider has refused the one put last.' }),
  isHealthy: z
    .boolean()
    .nullable()
    .meta({ description: 'Whether its last check succeeded; null: that is not known.' }),
});
const listedApp = z.object({ id, name: z.string(), platforms: z.array(platform) });

const route = routesAt('/operator/v1/clients/:clientId/apps', { api: 'operator' });
const path = { clientId };

export const clientAppRoutes = (parts: Parts): readonly Route[] => [
  listRoute(parts),
  addRoute(parts),
];

const listRoute = ({ sql }: Parts) =>
  route.get(
    'listClientApps',
    {
      summary: 'List the apps of a client',
      description: 'With their platforms, and whether the provider credentials there work.',
      path,
      answer: shown('The apps, by id.', z.array(listedApp), [
        {
          id: 1,
          name: 'News',
          platforms: [{ platformId: 3, hasCredential: true, isRefused: false, isHealthy: true }],
        },
      ]),
    },
    async ({ path: { clientId: slug } }) => {
      const client = await findClient(sql, slug);
      return client === null ? noClient(slug) : done(await listApps(sql, client.id));
    },
  );

const addRoute = ({ sql, secrets }: Parts) =>
  route.post(
    'addClientApp',
    {
      summary: 'Make an app of a client, with its API user',
      description: 'Within the limits of the client. `409`: engines have another `SECRET_KEY`.',
      path,
      body: form(newAppForm, { name: 'News', platformIds: [3, 15] }),
      answer: secret(
        created(
          'Made. No cache may store its credential.',
          app.extend({ apiUser: madeCredential }),
          { id: 13, name: 'News', platformIds: [3, 15], apiUser: MADE_CREDENTIAL },
        ),
      ),
      problems: [409],
    },
    inNamedClient(sql, async (tx, { record, ...client }, { body: { name, platformIds } }) => {
      const fault = await secretKeyFault(tx, secrets);
      if (fault !== null) return refused(409, fault);
      const made = await makeApp(tx, secrets, { ...client, name, platformIds }, record);
      if (!made.ok) return appRefusal(made.refusal);
      return done({ id: made.id, name, platformIds, apiUser: asMade(made.credential) });
    }),
  );
