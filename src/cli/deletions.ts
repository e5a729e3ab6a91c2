/** `tagcast deletions …`: so many dead devices that an operator should check first. */

import type { HeldDeletions } from '../push/sql/deletions/scopes.ts';
import { counted, format } from '../std/counted.ts';
import { tableRow } from '../std/visible-text.ts';
import type { Command, Verb } from './command.ts';
import { verb } from './command.ts';
import type { OperatorContext, Plan } from './operator-command.ts';
import { asking, errandCommand } from './operator-command.ts';

export const deletionsCommand = (context: OperatorContext): Command =>
  errandCommand(context, {
    name: 'deletions',
    verbs: {
      list: verb({ summary: 'Lists push jobs whose deletions are held.' }, () =>
        asking(async (api): Promise<readonly HeldDeletions[]> => {
          const { body } = await api.request('GET', '/operator/v1/deletions');
          return body.map(({ heldAt, ...scope }) => ({ ...scope, heldAtMs: heldAt }));
        }, describeHeld),
      ),
      release: decision('release', 'Erases their devices, except those that registered since.'),
      discard: decision('discard', 'Keeps their devices (happens by itself after 30 days).'),
    },
  });

const decision = (decided: 'release' | 'discard', summary: string): Verb<Plan> =>
  verb({ summary, arguments: ['job'] }, ({ job }) =>
    asking(
      async (api) => {
        const path = { job };
        return (await api.request('POST', `/operator/v1/deletions/{job}/${decided}`, { path }))
          .body;
      },
      ({ devices }) =>
        decided === 'release'
          ? `Erases ${counted(devices, 'device')}.`
          : `Keeps ${counted(devices, 'device')}.`,
    ),
  );

const describeHeld = (held: readonly HeldDeletions[]): string =>
  held.length === 0 ? 'No deletions are held.' : held.map(describeScope).join('\n');

const describeScope = (scope: HeldDeletions): string =>
  tableRow(
    scope.notificationId,
    scope.client,
    `app ${scope.appId} on ${scope.platformId}`,
    `${format(scope.held)} of ${counted(scope.held + scope.delivered, 'device')}`,
    `since ${new Date(scope.heldAtMs).toISOString()}`,
  );
