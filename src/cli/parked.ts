/** `tagcast parked …`: parts of sends that could not be completed. */

import type { ReleasedParts } from '../operator/operator-actions.ts';
import type { ParkedScope } from '../store/ledger/parked-parts.ts';
import type { Command } from './command.ts';
import type { Errand, OperatorContext } from './operator-command.ts';
import { readFlags, readPositionals, runErrand, UsageError } from './operator-command.ts';

const USAGE = `tagcast parked list              lists push jobs with parked parts, and the reason
tagcast parked release <job-id>  sends these parts; devices that may have received the push before receive it again`;

/** Makes the command. */
export const parkedCommand = (context: OperatorContext): Command => ({
  usage: USAGE,
  run: (args) => runErrand(context, USAGE, args, plan),
});

function plan(verb: string, args: readonly string[]): Errand {
  const { positionals } = readFlags(args, {});
  switch (verb) {
    case 'list':
      readPositionals(positionals, []);
      return { action: 'parked.list', input: {}, describe: describeParked };
    case 'release': {
      const { job } = readPositionals(positionals, ['job']);
      return {
        action: 'parked.release',
        input: { job },
        describe: ({ devices }: ReleasedParts) => `The push will be sent to ${devices} devices.`,
      };
    }
    default:
      throw new UsageError(`parked needs list or release\n${USAGE}`);
  }
}

const describeParked = (parked: readonly ParkedScope[]): string =>
  parked.length === 0 ? 'Nothing is parked.' : parked.map(describeScope).join('\n');

const describeScope = (scope: ParkedScope): string =>
  [
    scope.notificationId,
    scope.client,
    `app ${scope.appId} on ${scope.platformId}`,
    `${scope.devices} devices`,
    `since ${new Date(scope.sinceMs).toISOString()}`,
    scope.failure ?? 'its worker or node was lost',
  ].join('\t');
