/**
 * `tagcast credential …`: shows or replaces the credential of a client's super user or an app's API
 * user.
 */

import type { CredentialShown } from '../operator/credential-actions.ts';
import { readNumber, required } from './arguments.ts';
import type { Command } from './command.ts';
import { verb } from './command.ts';
import type { Errand, OperatorContext } from './operator-command.ts';
import { describeCredential, errandCommand } from './operator-command.ts';

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
        ({ client }, { app }) => errand('credential.show', ownerOf(client, app), {}),
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
          return errand('credential.rotate', owner, { graceHours });
        },
      ),
    },
  });

interface Owner {
  readonly client: string;
  /** Null: the client's super user. */
  readonly appId: number | null;
}

const ownerOf = (client: string, app: string | undefined): Owner => ({
  client,
  appId: app === undefined ? null : readNumber('--app', app),
});

const errand = (
  action: 'credential.show' | 'credential.rotate',
  owner: Owner,
  terms: object,
): Errand => ({
  action,
  input: { ...owner, ...terms },
  describe: ({ credential }: CredentialShown) =>
    describeCredential(
      owner.appId === null ? 'Notification + Admin API:' : `App ${owner.appId}. Subscriptions API:`,
      credential,
    ),
});
