/** `tagcast client …`: tenants. */

import type { TagcastClient } from '../../packages/client/src/client.ts';
import type { ListedClient } from '../clients/find-client.ts';
import { counted } from '../std/counted.ts';
import { tableRow } from '../std/visible-text.ts';
import type { LimitValues } from './client-limits.ts';
import { LIMIT_FLAGS, planLimits } from './client-limits.ts';
import type { Command, Verb } from './command.ts';
import { verb } from './command.ts';
import type { OperatorContext, Plan } from './operator-command.ts';
import { asking, describeCredential, errandCommand, shownCredential } from './operator-command.ts';

const CLIENTS = '/operator/v1/clients';

type ToldClient = Omit<ListedClient, 'id'>;

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
        ({ client }, { name }) =>
          asking(
            (api) => add(api, client, name ?? client),
            ({ client, credential }) =>
              describeCredential(`Client ${client}. Notification + Admin API:`, credential),
          ),
      ),
      list: verb({ summary: 'Lists the clients.' }, () => asking(list, describeClients)),
      disable: switched('disable', 'Its credentials are refused within a second.'),
      enable: switched('enable', 'Its credentials work again within a second.'),
      delete: verb(
        {
          summary: 'Deletes a disabled client with all its data, for good.',
          arguments: ['client'],
        },
        ({ client }) =>
          asking(
            async (api) => {
              await api.request('DELETE', `${CLIENTS}/{clientId}`, { path: { clientId: client } });
              return { client };
            },
            () =>
              `Client ${client} is deleted. Its data is erased from now on: client list shows what is left.`,
          ),
      ),
      limits: verb(
        {
          summary: "Shows the client's limits, and sets those that are given.",
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
  verb({ summary, arguments: ['client'] }, ({ client }) =>
    asking(
      async (api) => {
        const path = { clientId: client };
        await api.request('POST', `${CLIENTS}/{clientId}/${which}`, { path });
        return { client };
      },
      () => `Client ${client} is ${which}d.`,
    ),
  );

async function add(api: TagcastClient, client: string, name: string) {
  const { body } = await api.request('POST', CLIENTS, { body: { clientId: client, name } });
  return { client: body.clientId, credential: shownCredential(body.credential) };
}

async function list(api: TagcastClient): Promise<readonly ToldClient[]> {
  const { body } = await api.request('GET', CLIENTS);
  return body.map(({ clientId, name, isDisabled, deleted = null }) => ({
    slug: clientId,
    name,
    disabled: isDisabled,
    left: deleted,
  }));
}

const describeClients = (clients: readonly ToldClient[]): string =>
  clients.map((client) => tableRow(client.slug, client.name, ...stateOf(client))).join('\n');

function stateOf({ disabled, left }: ToldClient): readonly string[] {
  if (left === null) return disabled ? ['disabled'] : [];
  const { apps, devices, jobs } = left;
  return [
    `deleted; left: ${counted(apps, 'app')}, ${counted(devices, 'device')}, ${counted(jobs, 'push job')}`,
  ];
}
