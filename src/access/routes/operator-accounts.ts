/** The operator's routes of people: accounts of the operator, invitations, and new passwords. */

import type { Logger } from 'pino';
import { z } from 'zod';
import type { SqlPool } from '../../database/sql.ts';
import { created, noContent, secret, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { epochMs } from '../../http/openapi/parts.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { done, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { strictForm } from '../../std/strict-form.ts';
import { readEmail } from '../accounts/email.ts';
import { makeLink } from '../accounts/links.ts';
import { addOperator, resetAccount } from '../accounts/operators.ts';
import type { Secrets } from '../secrets.ts';
import { listOperators, setOperator } from '../sql/accounts.ts';
import { logAccountAction } from './account-log.ts';
import { email } from './forms.ts';
import { exampleOf, link, shownLink } from './made-link.ts';

interface Parts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  readonly log: Logger;
}

/** @limit accounts of the operator that are listed → the others are not listed */
const OPERATORS_LISTED_MAX = 1_000;

const operator = z.object({
  email: z.string(),
  lastSignInAt: epochMs.nullable().meta({ description: 'null: never.' }),
});

export const accountEmail: PathParameter<string> = {
  description: 'The e-mail address of the account, in any case.',
  schema: z.string(),
  example: 'ben@example.com',
  read: readEmail,
  unknown: refused(404, 'email must be an e-mail address.'),
};

const LINK_HOLDS = 'The link holds for an hour, once. No cache may store it.';
const noAccount = (address: string) => refused(404, `There is no account ${address}.`);

const operators = routesAt('/operator/v1/operators', { api: 'operator' });

export const accountRoutes = (parts: Parts): readonly Route[] =>
  [addRoute, listRoute, removeRoute, inviteRoute, resetRoute].map((make) => make(parts));

const addRoute = ({ sql, secrets, log }: Parts) =>
  operators.post(
    'addOperator',
    {
      summary: 'Make an account of the operator, with a link to set its password',
      description: `It sees the page System of the console, and belongs to no client by that. An account that exists already loses its password and its sessions. ${LINK_HOLDS}`,
      body: form(strictForm({ email }), { email: 'ops@example.com' }),
      answer: secret(created('The link.', link, exampleOf('reset'))),
      problems: [404],
    },
    async ({ body, request }) => {
      const address = readEmail(body.email) ?? body.email;
      const made = await addOperator(sql, secrets, address);
      if (made === null) return noAccount(address);
      logAccountAction(log, request, 'operator.add', { email: address });
      return shownLink(made);
    },
  );

const listRoute = ({ sql }: Parts) =>
  operators.get(
    'listOperators',
    {
      summary: 'List the accounts of the operator',
      answer: shown('By their e-mail addresses.', z.array(operator), [
        { email: 'ops@example.com', lastSignInAt: null },
      ]),
    },
    async () => {
      const rows = await listOperators(sql, OPERATORS_LISTED_MAX);
      return done(
        rows.map(({ email, lastSignedInAtMs }) => ({ email, lastSignInAt: lastSignedInAtMs })),
      );
    },
  );

const removeRoute = ({ sql, log }: Parts) =>
  operators.delete(
    'removeOperator',
    {
      at: ':email',
      summary: "Make an account the operator's no more",
      description: 'The account stays, as any other. It holds within a second.',
      path: { email: accountEmail },
      answer: noContent("It is none of the operator's."),
    },
    async ({ path: { email }, request }) => {
      if (!(await setOperator(sql, email, false))) return noAccount(email);
      logAccountAction(log, request, 'operator.remove', { email });
      return done(null);
    },
  );

const inviteRoute = ({ sql, secrets, log }: Parts) =>
  routesAt('/operator/v1/invitations', { api: 'operator' }).post(
    'inviteClient',
    {
      summary: 'Make a link by which one person makes an account and a client',
      description: `Where SIGN_UP is \`invitation\` or \`open\`. ${LINK_HOLDS}`,
      answer: secret(created('The link.', link, exampleOf('sign-up'))),
    },
    async ({ request }) => {
      const made = await makeLink(sql, secrets, { kind: 'sign-up' });
      logAccountAction(log, request, 'operator.invite', {});
      return shownLink(made);
    },
  );

const resetRoute = ({ sql, secrets, log }: Parts) =>
  routesAt('/operator/v1/accounts', { api: 'operator' }).post(
    'resetAccount',
    {
      at: ':email/reset',
      summary: 'Make a link by which any account gets a new password',
      description: `Links that the account had before end. ${LINK_HOLDS}`,
      path: { email: accountEmail },
      answer: secret(created('The link.', link, exampleOf('reset'))),
    },
    async ({ path: { email }, request }) => {
      const made = await resetAccount(sql, secrets, email);
      if (made === null) return noAccount(email);
      logAccountAction(log, request, 'member.reset', { email });
      return shownLink(made);
    },
  );
