/** `tagcast member …`: who belongs to a client in the console, and links to new passwords. */

import type { MemberRow } from '../access/sql/memberships.ts';
import { tableRow } from '../std/visible-text.ts';
import { required } from './arguments.ts';
import type { Command } from './command.ts';
import { verb } from './command.ts';
import { describeLink, readLinkUrl, URL_FLAG } from './link.ts';
import type { OperatorContext, Plan } from './operator-command.ts';
import { errandCommand } from './operator-command.ts';

const NOTES =
  'Roles: owner (everything), publisher (sends and reads), viewer (reads). Each link works once, for an hour.';
const ROLES = ['owner', 'publisher', 'viewer'] as const;

export const memberCommand = (context: OperatorContext): Command =>
  errandCommand(context, {
    name: 'member',
    verbs: {
      list: verb({ summary: "Lists a client's members.", arguments: ['client'] }, ({ client }) => ({
        action: 'member.list',
        input: { client },
        describe: describeMembers,
      })),
      invite: verb(
        {
          summary: 'Prints a link by which one person joins the client.',
          arguments: ['client'],
          flags: {
            role: { type: 'string', choices: ROLES, about: 'what they may do' },
            ...URL_FLAG,
          },
          notes: NOTES,
        },
        ({ client }, { role, url }) => planInvitation(client, required('role', role), url),
      ),
      role: verb(
        {
          summary: 'Gives a member another role.',
          arguments: ['client', 'email', { name: 'role', choices: ROLES }],
          notes: NOTES,
        },
        (input) => ({
          action: 'member.role',
          input,
          describe: ({ role }) => `${input.email} is ${role} of client ${input.client}.`,
        }),
      ),
      remove: verb(
        {
          summary: 'Takes a member out of the client.',
          arguments: ['client', 'email'],
          flags: {
            'cancel-jobs': {
              type: 'boolean',
              about: 'also cancel what they have scheduled and what is still being sent',
            },
          },
        },
        ({ client, email }, flags) => planRemoval(client, email, flags['cancel-jobs'] === true),
      ),
      reset: verb(
        {
          summary: 'Prints a link by which the account gets a new password.',
          arguments: ['email'],
          flags: URL_FLAG,
          notes: NOTES,
        },
        ({ email }, { url }) => planReset(email, url),
      ),
    },
  });

function planInvitation(client: string, role: string, address: string): Plan {
  const url = readLinkUrl(address);
  return {
    action: 'member.invite',
    input: { client, role },
    describe: (link) => describeLink(`Somebody joins client ${client} as ${role} here`, url, link),
  };
}

function planRemoval(client: string, email: string, cancelJobs: boolean): Plan {
  const cancelled = cancelJobs ? ' The push jobs that this account had open are cancelled.' : '';
  return {
    action: 'member.remove',
    input: { client, email, cancelJobs },
    describe: () => `${email} does not belong to client ${client} any more.${cancelled}`,
  };
}

function planReset(email: string, address: string): Plan {
  const url = readLinkUrl(address);
  return {
    action: 'member.reset',
    input: { email },
    describe: (link) => describeLink(`${email} sets a new password here`, url, link),
  };
}

const describeMembers = (members: readonly MemberRow[]): string =>
  members.length === 0
    ? 'This client has no members: member invite makes a link for one.'
    : members.map(({ email, role }) => tableRow(email, role)).join('\n');
