/**
 * `tagcast credential …`: shows or replaces the credential of a client's super user or an app's API
 * user.
 */

import type { CredentialShown } from '../operator/credential-actions.ts';
import type { Command } from './command.ts';
import type { Errand, OperatorContext } from './operator-command.ts';
import {
  describeCredential,
  readFlags,
  readNumber,
  readPositionals,
  runErrand,
  UsageError,
} from './operator-command.ts';

const USAGE = `tagcast credential show <client-id> [--app <app-id>]
tagcast credential rotate <client-id> [--app <app-id>] --grace-hours <0–168>

Without --app: the credentials of the super user (Notification + Admin API). With --app: those of the app (Subscriptions API).
show prints the credentials in force. rotate creates new ones; the old ones keep working for the grace period.`;

/** Makes the command. */
export const credentialCommand = (context: OperatorContext): Command => ({
  usage: USAGE,
  run: (args) => runErrand(context, USAGE, args, plan),
});

const APP = { app: { type: 'string' } } as const;

function plan(verb: string, args: readonly string[]): Errand {
  switch (verb) {
    case 'show': {
      const { values, positionals } = readFlags(args, APP);
      return errand('credential.show', readOwner(positionals, values.app), {});
    }
    case 'rotate': {
      const { values, positionals } = readFlags(args, {
        ...APP,
        'grace-hours': { type: 'string' },
      });
      const owner = readOwner(positionals, values.app);
      const grace = values['grace-hours'];
      if (grace === undefined) throw new UsageError('--grace-hours is missing');
      return errand('credential.rotate', owner, {
        graceHours: readNumber('--grace-hours', grace),
      });
    }
    default:
      throw new UsageError(`credential needs show or rotate\n${USAGE}`);
  }
}

interface Owner {
  readonly client: string;
  /** Null: the client's super user. */
  readonly appId: number | null;
}

function readOwner(positionals: readonly string[], app: string | undefined): Owner {
  const { client } = readPositionals(positionals, ['client']);
  return { client, appId: app === undefined ? null : readNumber('--app', app) };
}

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
