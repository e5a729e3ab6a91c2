/** `tagcast credential …`: shows or replaces the credential of a super user or an API user. */

import type { TagcastClient } from '../../packages/client/src/client.ts';
import type { MadeCredential } from '../../packages/client/src/openapi.ts';
import { readNumber, required } from './arguments.ts';
import type { Command } from './command.ts';
import { verb } from './command.ts';
import type { OperatorContext, Plan } from './operator-command.ts';
import { asking, describeCredential, errandCommand, shownCredential } from './operator-command.ts';

const CREDENTIAL = '/operator/v1/clients/{clientId}/credential';

const APP = {
  app: {
    type: 'string',
    value: 'app',
    about: "of this app's API user (Subscriptions API); else of the super user (both other APIs)",
  },
} as const;

export const credentialCommand = (context: OperatorContext): Command =>
  errandCommand(context, {
    name: 'credential',
    verbs: {
      show: verb(
        { summary: 'Prints the credentials in force.', arguments: ['client'], flags: APP },
        ({ client }, { app }) => {
          const owner = ownerOf(client, app);
          return askCredential(owner, (api) =>
            api.request('GET', CREDENTIAL, { path: owner.path, query: owner.app }),
          );
        },
      ),
      rotate: verb(
        {
          summary: 'Creates new credentials; the old ones keep working for the grace period.',
          arguments: ['client'],
          flags: {
            ...APP,
            'grace-hours': { type: 'string', value: '0–168', about: 'the grace period' },
          },
        },
        ({ client }, { app, 'grace-hours': grace }) => {
          const owner = ownerOf(client, app);
          const graceHours = readNumber('--grace-hours', required('grace-hours', grace));
          const body = { ...owner.app, graceHours };
          return askCredential(owner, (api) =>
            api.request('POST', `${CREDENTIAL}/rotate`, { path: owner.path, body }),
          );
        },
      ),
    },
  });

interface Owner {
  readonly path: { readonly clientId: string };
  /** Nothing: the client's super user. */
  readonly app: { readonly appId?: number };
}

const ownerOf = (client: string, app: string | undefined): Owner => ({
  path: { clientId: client },
  app: app === undefined ? {} : { appId: readNumber('--app', app) },
});

const askCredential = (
  { app: { appId } }: Owner,
  ask: (api: TagcastClient) => Promise<{ readonly body: MadeCredential }>,
): Plan =>
  asking(
    async (api) => ({ credential: shownCredential((await ask(api)).body) }),
    ({ credential }) =>
      describeCredential(
        appId === undefined ? 'Notification + Admin API:' : `App ${appId}. Subscriptions API:`,
        credential,
      ),
  );
