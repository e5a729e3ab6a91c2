/** `tagcast credential rotate`: new credentials for a client's super user or an app's API user. */

import type { Command } from './command.ts';
import type { RotatedCredential } from './operator-actions.ts';
import type { Errand, OperatorContext } from './operator-command.ts';
import {
  describeCredential,
  readFlags,
  readNumber,
  readPositionals,
  runErrand,
  UsageError,
} from './operator-command.ts';

const USAGE = `tagcast credential rotate <client-id> [--app <app-id>] --grace-hours <0–168>

Makes new credentials; the old ones work for the grace period.`;

/** Makes the command. */
export const credentialCommand = (context: OperatorContext): Command => ({
  usage: USAGE,
  run: (args) => runErrand(context, USAGE, args, plan),
});

function plan(verb: string, args: readonly string[]): Errand<never> {
  if (verb !== 'rotate') throw new UsageError(`credential needs rotate\n${USAGE}`);
  const { values, positionals } = readFlags(args, {
    app: { type: 'string' },
    'grace-hours': { type: 'string' },
  });
  const { client } = readPositionals(positionals, ['client']);
  const grace = values['grace-hours'];
  if (grace === undefined) throw new UsageError('--grace-hours is missing');
  const appId = values.app === undefined ? null : readNumber('--app', values.app);
  return {
    action: 'credential.rotate',
    input: { client, appId, graceHours: readNumber('--grace-hours', grace) },
    describe: ({ credential }: RotatedCredential) =>
      describeCredential(
        appId === null ? 'Notification + Admin API:' : `App ${appId}. Subscriptions API:`,
        credential,
      ),
  };
}
