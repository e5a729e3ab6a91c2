/** `tagcast client …`: tenants. */

import type { AddedClient } from '../operator/client-actions.ts';
import type { ListedClient } from '../store/clients/find-client.ts';
import { LIMITS_USAGE, planLimits } from './client-limits.ts';
import type { Command } from './command.ts';
import type { Errand, OperatorContext } from './operator-command.ts';
import {
  describeCredential,
  readFlags,
  readPositionals,
  runErrand,
  UsageError,
} from './operator-command.ts';

const USAGE = `tagcast client add <client-id> [--name <name>]   creates a client, prints the super user's credentials
tagcast client list
tagcast client disable <client-id>               its credentials are refused within a second
tagcast client enable <client-id>                its credentials work again within a second
tagcast client delete <client-id>                deletes a disabled client with all its data, for good
tagcast client limits <client-id> [--<limit> <number>|default …]
  tells the client's limits, and sets those that are given; every node follows within a second. Limits, and their defaults:
${LIMITS_USAGE}`;

/** Makes the command. */
export const clientCommand = (context: OperatorContext): Command => ({
  usage: USAGE,
  run: (args) => runErrand(context, USAGE, args, plan),
});

function plan(verb: string, args: readonly string[]): Errand {
  switch (verb) {
    case 'add':
      return planAdd(args);
    case 'list':
      readPositionals(readFlags(args, {}).positionals, []);
      return { action: 'client.list', input: {}, describe: describeClients };
    case 'disable':
    case 'enable': {
      const { client } = readPositionals(readFlags(args, {}).positionals, ['client']);
      return {
        action: `client.${verb}`,
        input: { client },
        describe: () => `Client ${client} is ${verb}d.`,
      };
    }
    case 'limits':
      return planLimits(args);
    case 'delete': {
      const { client } = readPositionals(readFlags(args, {}).positionals, ['client']);
      return {
        action: 'client.delete',
        input: { client },
        describe: () =>
          `Client ${client} is deleted. Its data is erased from now on: client list tells what is left.`,
      };
    }
    default:
      throw new UsageError(`client needs add, list, disable, enable, delete or limits\n${USAGE}`);
  }
}

function planAdd(args: readonly string[]): Errand {
  const { values, positionals } = readFlags(args, { name: { type: 'string' } });
  const { client } = readPositionals(positionals, ['client']);
  return {
    action: 'client.add',
    input: { client, name: values.name ?? client },
    describe: (added: AddedClient) =>
      describeCredential(`Client ${added.client}. Notification + Admin API:`, added.credential),
  };
}

const describeClients = (clients: readonly ListedClient[]): string =>
  clients.map((client) => `${client.slug}\t${client.name}${stateOf(client)}`).join('\n');

function stateOf({ disabled, left }: ListedClient): string {
  if (left === null) return disabled ? '\tdisabled' : '';
  const { apps, devices, jobs } = left;
  return `\tdeleted; left: ${apps} apps, ${devices} devices, ${jobs} push jobs`;
}
