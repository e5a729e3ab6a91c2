/** `tagcast operator …`: the operator's accounts in the console, and invitations to new clients. */

import type { TagcastClient } from '../../packages/client/src/client.ts';
import type { ListedOperator } from '../access/sql/accounts.ts';
import { tableRow } from '../std/visible-text.ts';
import type { Command } from './command.ts';
import { verb } from './command.ts';
import { describeLink, madeLink, readLinkUrl, URL_FLAG } from './link.ts';
import type { OperatorContext, Plan } from './operator-command.ts';
import { asking, errandCommand } from './operator-command.ts';

const OPERATORS = '/operator/v1/operators';

const NOTES = `Accounts of the operator see the page System of the console. They belong to no client by that: tagcast member invite does this.
Each link works once, for an hour. An account that add finds there already loses its password and its sessions.`;

export const operatorCommand = (context: OperatorContext): Command =>
  errandCommand(context, {
    name: 'operator',
    notes: NOTES,
    verbs: {
      add: verb(
        {
          summary: 'Makes an account of the operator, prints a link to set its password.',
          arguments: ['email'],
          flags: URL_FLAG,
          notes: NOTES,
        },
        ({ email }, { url }) => planAdd(email, url),
      ),
      list: verb({ summary: "Lists the operator's accounts." }, () =>
        asking(list, describeOperators),
      ),
      remove: verb(
        {
          summary: "The account stays, and is the operator's no more.",
          arguments: ['email'],
        },
        ({ email }) =>
          asking(
            async (api) => {
              await api.request('DELETE', `${OPERATORS}/{email}`, { path: { email } });
              return { email };
            },
            () => `${email} is no operator any more.`,
          ),
      ),
      invite: verb(
        {
          summary: 'Prints a link by which one person makes a client (SIGN_UP=invitation).',
          flags: URL_FLAG,
        },
        (_, { url }) => planInvitation(url),
      ),
    },
  });

function planAdd(email: string, address: string): Plan {
  const url = readLinkUrl(address);
  return asking(
    async (api) => madeLink(await api.request('POST', OPERATORS, { body: { email } })),
    (link) => describeLink(`Operator ${email} sets the password here`, url, link),
  );
}

function planInvitation(address: string): Plan {
  const url = readLinkUrl(address);
  return asking(
    async (api) => madeLink(await api.request('POST', '/operator/v1/invitations')),
    (link) => describeLink('Somebody makes an account and a client here', url, link),
  );
}

async function list(api: TagcastClient): Promise<readonly ListedOperator[]> {
  const { body } = await api.request('GET', OPERATORS);
  return body.map(({ email, lastSignInAt }) => ({ email, lastSignedInAtMs: lastSignInAt }));
}

const describeOperators = (operators: readonly ListedOperator[]): string =>
  operators.length === 0
    ? 'There is no account of the operator: operator add makes one.'
    : operators
        .map(({ email, lastSignedInAtMs }) =>
          tableRow(
            email,
            lastSignedInAtMs === null
              ? 'has never signed in'
              : `signed in ${new Date(lastSignedInAtMs).toISOString()}`,
          ),
        )
        .join('\n');
