/**
 * `tagcast deletions …`: devices that a provider reported dead in such numbers that an operator
 * should check first.
 */

import type { DecidedDeletions } from '../operator/operator-actions.ts';
import type { HeldDeletions } from '../push/sql/deletions/scopes.ts';
import { tableRow } from '../std/visible-text.ts';
import type { Command, Verb } from './command.ts';
import { verb } from './command.ts';
import type { OperatorContext, Plan } from './operator-command.ts';
import { errandCommand } from './operator-command.ts';

/** Makes the command. */
export const deletionsCommand = (context: OperatorContext): Command =>
  errandCommand(context, {
    name: 'deletions',
    verbs: {
      list: verb({ summary: 'Lists push jobs whose deletions are held.' }, () => ({
        action: 'deletions.list',
        input: {},
        describe: describeHeld,
      })),
      release: decision('release', 'Erases their devices, except those that registered since.'),
      discard: decision('discard', 'Keeps their devices (happens by itself after 30 days).'),
    },
  });

const decision = (decided: 'release' | 'discard', summary: string): Verb<Plan> =>
  verb({ summary, arguments: ['job'] }, ({ job }) => ({
    action: `deletions.${decided}`,
    input: { job },
    describe: ({ devices }: DecidedDeletions) =>
      decided === 'release' ? `${devices} devices will be erased.` : `${devices} devices are kept.`,
  }));

const describeHeld = (held: readonly HeldDeletions[]): string =>
  held.length === 0 ? 'No deletions are held.' : held.map(describeScope).join('\n');

const describeScope = (scope: HeldDeletions): string =>
  tableRow(
    scope.notificationId,
    scope.client,
    `app ${scope.appId} on ${scope.platformId}`,
    `${scope.held} of ${scope.held + scope.delivered} devices`,
    `since ${new Date(scope.heldAtMs).toISOString()}`,
  );
