/** The operator's routes of credentials: those of a client's super user and of its apps. */

import { findAppClient } from '../../clients/find-app.ts';
import { findClient } from '../../clients/find-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { secret, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { clientId, idOf } from '../../http/parameters.ts';
import { done, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { revealCredential } from '../credentials.ts';
import { renewCredential } from '../renew-credential.ts';
import type { Secrets } from '../secrets.ts';
import { rotateForm } from './credentials.ts';
import { asMade, MADE_CREDENTIAL, madeCredential } from './made-credential.ts';
import { inNamedClient, noClient } from './named-client.ts';

interface Parts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
}

const route = routesAt('/operator/v1/clients/:clientId/credential', { api: 'operator' });
const path = { clientId };
const noApp = (slug: string, appId: number | null) =>
  refused(404, `Client ${slug} has no app ${appId}.`);

export const clientCredentialRoutes = (parts: Parts): readonly Route[] => [
  showRoute(parts),
  rotateRoute(parts),
];

const showRoute = ({ sql, secrets }: Parts) =>
  route.get(
    'showClientCredential',
    {
      summary: 'Show a credential in force again',
      description: "The super user's, or with `appId` that of the app's API user.",
      path,
      query: { appId: idOf("The app whose API user's it is; absent: the super user's.", 1) },
      answer: secret(
        shown('In clear text. No cache may store it.', madeCredential, MADE_CREDENTIAL),
      ),
      problems: [409],
    },
    async ({ path: { clientId: slug }, query: { appId } }) => {
      const client = await findClient(sql, slug);
      if (client === null) return noClient(slug);
      if (appId !== null && (await findAppClient(sql, appId))?.clientId !== client.id) {
        return noApp(slug, appId);
      }
      const result = await revealCredential(sql, secrets, { clientId: client.id, appId });
      switch (result.kind) {
        case 'revealed':
          return done(asMade(result.credential));
        case 'none':
          return refused(404, 'There is no credential in force: credential rotate creates one.');
        case 'unreadable':
          return refused(
            409,
            `SECRET_KEY: this credential was encrypted with another key, ${result.keyId}: restore that key, or create a new credential with credential rotate.`,
          );
      }
    },
  );

const rotateRoute = ({ sql, secrets }: Parts) =>
  route.post(
    'rotateClientCredential',
    {
      at: 'rotate',
      summary: 'Make a new credential of a client, or of one of its apps',
      description:
        "The super user's, or with `appId` that of the app's API user. The old one works for `graceHours` more.",
      path,
      body: form(rotateForm, { graceHours: 24, appId: 1 }),
      answer: secret(shown('The new one. No cache may store it.', madeCredential, MADE_CREDENTIAL)),
    },
    inNamedClient(
      sql,
      async (tx, { record, ...client }, { body: { graceHours, appId = null } }) => {
        const owner = { ...client, appId };
        const made = await renewCredential(tx, secrets, owner, graceHours, record);
        return made === null ? noApp(client.clientSlug, appId) : done(asMade(made));
      },
    ),
  );
