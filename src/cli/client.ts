/** `tagcast client …`: tenants. */

import type { ListedClient } from '../clients/find-client.ts';
import type { AddedClient } from '../operator/client-actions.ts';
import { tableRow } from '../std/visible-text.ts';
import type { LimitValues } from './client-limits.ts';
import { LIMIT_FLAGS, planLimits } from './client-limits.ts';
import type { Command, Verb } from './command.ts';
import { verb } from './command.ts';
import type { OperatorContext, Plan } from './operator-command.ts';
import { describeCredential, errandCommand } from './operator-command.ts';

/** Makes the command. */
export const clientCommand = (context: OperatorContext): Command =>
  errandCommand(context, {
    name: 'client',
    verbs: {
      add: verb(
        {
          summary: "Creates a client, prints the super user's credentials.",
          arguments: ['client'],
          flags: { name: { type: 'string', about: 'its name for people; else its id' } },
        },
        ({ client }, { name }) => ({
          action: 'client.add',
          input: { client, name: name ?? client },
          describe: (added: AddedClient) =>
            describeCredential(
              `Client ${added.client}. Notification + Admin API:`,
              added.credential,
            ),
        }),
      ),
      list: verb({ summary: 'Lists the clients.' }, () => ({
        action: 'client.list',
        input: {},
        describe: describeClients,
      })),
      disable: switched('disable', 'Its credentials are refused within a second.'),
      enable: switched('enable', 'Its credentials work again within a second.'),
      delete: verb(
        {
          summary: 'Deletes a disabled client with all its data, for good.',
          arguments: ['client'],
        },
        ({ client }) => ({
          action: 'client.delete',
          input: { client },
          describe: () =>
            `Client ${client} is deleted. Its data is erased from now on: client list tells what is left.`,
        }),
      ),
      limits: verb(
        {
          summary: "Tells the client's limits, and sets those that are given.",
          arguments: ['client'],
          flags: LIMIT_FLAGS,
          notes:
            'Every node follows within a second. `default` takes a limit of its own from a client.',
        },
        ({ client }, flags) => planLimits(client, flags as LimitValues),
      ),
    },
  });

const switched = (which: 'disable' | 'enable', summary: string): Verb<Plan> =>
  verb({ summary, arguments: ['client'] }, ({ client }) => ({
    action: `client.${which}`,
    input: { client },
    describe: () => `Client ${client} is ${which}d.`,
  }));

const describeClients = (clients: readonly ListedClient[]): string =>
  clients.map((client) => tableRow(client.slug, client.name, ...stateOf(client))).join('\n');

function stateOf({ disabled, left }: ListedClient): readonly string[] {
  if (left === null) return disabled ? ['disabled'] : [];
  const { apps, devices, jobs } = left;
  return [`deleted; left: ${apps} apps, ${devices} devices, ${jobs} push jobs`];
}
