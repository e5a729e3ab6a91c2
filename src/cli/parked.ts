/** `tagcast parked …`: parts of sends that could not be completed. */

import type { ParkedScope } from '../push/sql/ledger/parked-parts.ts';
import { counted } from '../std/counted.ts';
import { tableRow } from '../std/visible-text.ts';
import type { Command } from './command.ts';
import { verb } from './command.ts';
import type { OperatorContext } from './operator-command.ts';
import { asking, errandCommand } from './operator-command.ts';

export const parkedCommand = (context: OperatorContext): Command =>
  errandCommand(context, {
    name: 'parked',
    verbs: {
      list: verb({ summary: 'Lists push jobs with parked parts, and the reason.' }, () =>
        asking(async (api): Promise<readonly ParkedScope[]> => {
          const { body } = await api.request('GET', '/operator/v1/parked');
          return body.map(({ since, ...scope }) => ({ ...scope, sinceMs: since }));
        }, describeParked),
      ),
      release: verb(
        {
          summary: 'Sends these parts.',
          arguments: ['job'],
          notes: 'Devices that may have received the push before receive it again.',
        },
        ({ job }) =>
          asking(
            async (api) => {
              const path = { job };
              return (await api.request('POST', '/operator/v1/parked/{job}/release', { path }))
                .body;
            },
            ({ devices }) => `The push will be sent to ${counted(devices, 'device')}.`,
          ),
      ),
    },
  });

const describeParked = (parked: readonly ParkedScope[]): string =>
  parked.length === 0 ? 'Nothing is parked.' : parked.map(describeScope).join('\n');

const describeScope = (scope: ParkedScope): string =>
  tableRow(
    scope.notificationId,
    scope.client,
    `app ${scope.appId} on ${scope.platformId}`,
    counted(scope.devices, 'device'),
    `since ${new Date(scope.sinceMs).toISOString()}`,
    scope.failure ?? 'its worker or node was lost',
  );
