/** `tagcast member …`: who belongs to a client in the console, and links to new passwords. */

import type { MemberRow } from '../access/sql/memberships.ts';
import type { MemberRole } from '../domain/caller.ts';
import { tableRow } from '../std/visible-text.ts';
import { required } from './arguments.ts';
import type { Command } from './command.ts';
import { verb } from './command.ts';
import { describeLink, madeLink, readLinkUrl, URL_FLAG } from './link.ts';
import type { OperatorContext, Plan } from './operator-command.ts';
import { asking, errandCommand } from './operator-command.ts';

const NOTES =
  'Roles: owner (everything), publisher (sends and reads), viewer (reads). Each link works once, for an hour.';
const MEMBERS = '/operator/v1/clients/{clientId}/members';
const MEMBER = `${MEMBERS}/{email}` as const;
const ROLES = ['owner', 'publisher', 'viewer'] as const;

export const memberCommand = (context: OperatorContext): Command =>
  errandCommand(context, {
    name: 'member',
    verbs: {
      list: verb({ summary: "Lists a client's members.", arguments: ['client'] }, ({ client }) =>
        asking(async (api): Promise<readonly MemberRow[]> => {
          const { body } = await api.request('GET', MEMBERS, { path: { clientId: client } });
          return body;
        }, describeMembers),
      ),
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
        ({ client, email, role: wanted }) =>
          asking(
            async (api) => {
              const path = { clientId: client, email };
              const body = { role: wanted as MemberRole };
              const { role } = (await api.request('PATCH', MEMBER, { path, body })).body;
              return { role };
            },
            ({ role }) => `${email} is ${role} of client ${client}.`,
          ),
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
  const asked = { path: { clientId: client }, body: { role: role as MemberRole } };
  return asking(
    async (api) => madeLink(await api.request('POST', MEMBERS, asked)),
    (link) => describeLink(`Somebody joins client ${client} as ${role} here`, url, link),
  );
}

function planRemoval(client: string, email: string, cancelJobs: boolean): Plan {
  const cancelled = cancelJobs ? ' The push jobs that this account had open are cancelled.' : '';
  const path = { clientId: client, email };
  const query = cancelJobs ? { cancelJobs: 'true' as const } : {};
  return asking(
    async (api) => {
      await api.request('DELETE', MEMBER, { path, query });
      return { email };
    },
    () => `${email} does not belong to client ${client} any more.${cancelled}`,
  );
}

function planReset(email: string, address: string): Plan {
  const url = readLinkUrl(address);
  return asking(
    async (api) =>
      madeLink(
        await api.request('POST', '/operator/v1/accounts/{email}/reset', { path: { email } }),
      ),
    (link) => describeLink(`${email} sets a new password here`, url, link),
  );
}

const describeMembers = (members: readonly MemberRow[]): string =>
  members.length === 0
    ? 'This client has no members: member invite makes a link for one.'
    : members.map(({ email, role }) => tableRow(email, role)).join('\n');
