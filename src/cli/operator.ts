/** `tagcast operator …`: the operator's accounts in the console, and invitations to new clients. */

import type { ListedOperator } from '../store/accounts/accounts.ts';
import type { Command } from './command.ts';
import { describeLink, readLinkUrl, URL_FLAG } from './link.ts';
import type { Errand, OperatorContext } from './operator-command.ts';
import { readFlags, readPositionals, runErrand, UsageError } from './operator-command.ts';

const USAGE = `tagcast operator add <email> [--url <address>]   makes an account of the operator, prints a link to set its password
tagcast operator list
tagcast operator remove <email>                  the account stays, and is the operator's no more
tagcast operator invite [--url <address>]        prints a link by which one person makes a client (SIGN_UP=invitation)

Accounts of the operator see the page System of the console. They belong to no client by that: tagcast member invite does this.
Each link works once, for an hour. An account that add finds there already loses its password and its sessions.

  --url <address>   under which people reach the console (http://127.0.0.1:8080)`;

/** Makes the command. */
export const operatorCommand = (context: OperatorContext): Command => ({
  usage: USAGE,
  run: (args) => runErrand(context, USAGE, args, plan),
});

function plan(verb: string, args: readonly string[]): Errand {
  switch (verb) {
    case 'add': {
      const { values, positionals } = readFlags(args, URL_FLAG);
      const { email } = readPositionals(positionals, ['email']);
      const url = readLinkUrl(values.url);
      return {
        action: 'operator.add',
        input: { email },
        describe: (link) => describeLink(`Operator ${email} sets the password here`, url, link),
      };
    }
    case 'list':
      readPositionals(readFlags(args, {}).positionals, []);
      return { action: 'operator.list', input: {}, describe: describeOperators };
    case 'remove': {
      const { email } = readPositionals(readFlags(args, {}).positionals, ['email']);
      return {
        action: 'operator.remove',
        input: { email },
        describe: () => `${email} is no operator any more.`,
      };
    }
    case 'invite': {
      const { values, positionals } = readFlags(args, URL_FLAG);
      readPositionals(positionals, []);
      const url = readLinkUrl(values.url);
      return {
        action: 'operator.invite',
        input: {},
        describe: (link) => describeLink('Somebody makes an account and a client here', url, link),
      };
    }
    default:
      throw new UsageError(`operator needs add, list, remove or invite\n${USAGE}`);
  }
}

const describeOperators = (operators: readonly ListedOperator[]): string =>
  operators.length === 0
    ? 'There is no account of the operator: operator add makes one.'
    : operators
        .map(
          ({ email, lastSignedInAtMs }) =>
            `${email}\t${lastSignedInAtMs === null ? 'has never signed in' : `signed in ${new Date(lastSignedInAtMs).toISOString()}`}`,
        )
        .join('\n');
