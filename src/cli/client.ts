/** `tagcast client …`: tenants. */

import type { AddedClient } from '../operator/operator-actions.ts';
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
tagcast client enable <client-id>                its credentials work again within a second`;

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
    default:
      throw new UsageError(`client needs add, list, disable or enable\n${USAGE}`);
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

const describeClients = (
  clients: readonly { readonly slug: string; readonly name: string; readonly disabled: boolean }[],
): string =>
  clients
    .map(({ slug, name, disabled }) => `${slug}\t${name}${disabled ? '\tdisabled' : ''}`)
    .join('\n');
