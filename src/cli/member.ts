/** `tagcast member …`: who belongs to a client in the console, and links to new passwords. */

import type { MemberRow } from '../store/accounts/memberships.ts';
import type { Command } from './command.ts';
import { describeLink, readLinkUrl, URL_FLAG } from './link.ts';
import type { Errand, OperatorContext } from './operator-command.ts';
import { readFlags, readPositionals, runErrand, UsageError } from './operator-command.ts';

const USAGE = `tagcast member list <client-id>
tagcast member invite <client-id> --role <role> [--url <address>]   prints a link by which one person joins the client
tagcast member role <client-id> <email> <role>
tagcast member remove <client-id> <email>
tagcast member reset <email> [--url <address>]                      prints a link by which the account gets a new password

Roles: owner (everything), publisher (sends and reads), viewer (reads). Each link works once, for an hour.

  --url <address>   under which people reach the console (http://127.0.0.1:8080)`;

/** Makes the command. */
export const memberCommand = (context: OperatorContext): Command => ({
  usage: USAGE,
  run: (args) => runErrand(context, USAGE, args, plan),
});

function plan(verb: string, args: readonly string[]): Errand {
  switch (verb) {
    case 'list': {
      const { client } = readPositionals(readFlags(args, {}).positionals, ['client']);
      return { action: 'member.list', input: { client }, describe: describeMembers };
    }
    case 'invite':
      return planInvitation(args);
    case 'role': {
      const names = ['client', 'email', 'role'] as const;
      const input = readPositionals(readFlags(args, {}).positionals, names);
      const { client, email } = input;
      return {
        action: 'member.role',
        input,
        describe: ({ role }) => `${email} is ${role} of client ${client}.`,
      };
    }
    case 'remove': {
      const input = readPositionals(readFlags(args, {}).positionals, ['client', 'email']);
      const { client, email } = input;
      return {
        action: 'member.remove',
        input,
        describe: () => `${email} does not belong to client ${client} any more.`,
      };
    }
    case 'reset':
      return planReset(args);
    default:
      throw new UsageError(`member needs list, invite, role, remove or reset\n${USAGE}`);
  }
}

function planInvitation(args: readonly string[]): Errand {
  const { values, positionals } = readFlags(args, { ...URL_FLAG, role: { type: 'string' } });
  const { client } = readPositionals(positionals, ['client']);
  const { role } = values;
  if (role === undefined) throw new UsageError('--role is missing');
  const url = readLinkUrl(values.url);
  return {
    action: 'member.invite',
    input: { client, role },
    describe: (link) => describeLink(`Somebody joins client ${client} as ${role} here`, url, link),
  };
}

function planReset(args: readonly string[]): Errand {
  const { values, positionals } = readFlags(args, URL_FLAG);
  const { email } = readPositionals(positionals, ['email']);
  const url = readLinkUrl(values.url);
  return {
    action: 'member.reset',
    input: { email },
    describe: (link) => describeLink(`${email} sets a new password here`, url, link),
  };
}

const describeMembers = (members: readonly MemberRow[]): string =>
  members.length === 0
    ? 'This client has no members: member invite makes a link for one.'
    : members.map(({ email, role }) => `${email}\t${role}`).join('\n');
