/**
 * `tagcast deletions …`: devices that a provider reported dead in such numbers that an operator
 * should check first.
 */

import type { DecidedDeletions } from '../operator/operator-actions.ts';
import type { HeldDeletions } from '../store/deletions/scopes.ts';
import type { Command } from './command.ts';
import type { Errand, OperatorContext } from './operator-command.ts';
import { readFlags, readPositionals, runErrand, UsageError } from './operator-command.ts';

const USAGE = `tagcast deletions list              lists push jobs whose deletions are held
tagcast deletions release <job-id>  erases their devices, except those that registered since the push
tagcast deletions discard <job-id>  keeps their devices (happens by itself after 30 days)`;

/** Makes the command. */
export const deletionsCommand = (context: OperatorContext): Command => ({
  usage: USAGE,
  run: (args) => runErrand(context, USAGE, args, plan),
});

function plan(verb: string, args: readonly string[]): Errand {
  const { positionals } = readFlags(args, {});
  switch (verb) {
    case 'list':
      readPositionals(positionals, []);
      return { action: 'deletions.list', input: {}, describe: describeHeld };
    case 'release':
    case 'discard': {
      const { job } = readPositionals(positionals, ['job']);
      return {
        action: `deletions.${verb}`,
        input: { job },
        describe: ({ devices }: DecidedDeletions) =>
          verb === 'release'
            ? `${devices} devices will be erased.`
            : `${devices} devices are kept.`,
      };
    }
    default:
      throw new UsageError(`deletions needs list, release or discard\n${USAGE}`);
  }
}

const describeHeld = (held: readonly HeldDeletions[]): string =>
  held.length === 0 ? 'No deletions are held.' : held.map(describeScope).join('\n');

const describeScope = (scope: HeldDeletions): string =>
  [
    scope.notificationId,
    scope.client,
    `app ${scope.appId} on ${scope.platformId}`,
    `${scope.held} of ${scope.held + scope.delivered} devices`,
    `since ${new Date(scope.heldAtMs).toISOString()}`,
  ].join('\t');
