/** The operator's routes of a client's members: who belongs to it in the console. */

import type { Logger } from 'pino';
import { z } from 'zod';
import { operatorOrigin } from '../../audit/operator-origin.ts';
import { findClient } from '../../clients/find-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import type { AuditOrigin } from '../../domain/audit.ts';
import { created, noContent, secret, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { HttpRequest, Route } from '../../http/handler.ts';
import { clientId } from '../../http/parameters.ts';
import type { Refusal } from '../../http/result.ts';
import { done, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { LINKS_PER_CLIENT_MAX } from '../accounts/links.ts';
import type { LinkRefusal, MemberRefusal } from '../accounts/members.ts';
import { giveRole, invite, removeMember } from '../accounts/members.ts';
import { MEMBERS_PER_CLIENT_MAX } from '../accounts/sign-up.ts';
import type { CancelJobs } from '../cancel-jobs.ts';
import { cancelDetail } from '../cancel-jobs.ts';
import type { Secrets } from '../secrets.ts';
import { findAccount } from '../sql/accounts.ts';
import { listMembers } from '../sql/memberships.ts';
import { logAccountAction } from './account-log.ts';
import { cancelJobs } from './cancel-jobs.ts';
import { exampleOf, link, shownLink } from './made-link.ts';
import { MEMBER, member, roleForm } from './members.ts';
import { noClient } from './named-client.ts';
import { accountEmail } from './operator-accounts.ts';

interface Parts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  readonly log: Logger;
  readonly cancelJobs: CancelJobs;
}

const route = routesAt('/operator/v1/clients/:clientId/members', { api: 'operator' });
const path = { clientId, email: accountEmail };

export const clientMemberRoutes = (parts: Parts): readonly Route[] =>
  [listRoute, inviteRoute, changeRoute, removeRoute].map((make) => make(parts));

const listRoute = ({ sql }: Parts) =>
  route.get(
    'listClientMembers',
    {
      summary: 'List who belongs to a client',
      path: { clientId },
      answer: shown('The members, by account.', z.array(member), [MEMBER]),
    },
    async ({ path: { clientId: slug } }) => {
      const client = await findClient(sql, slug);
      if (client === null) return noClient(slug);
      const page = { afterId: 0, limit: MEMBERS_PER_CLIENT_MAX };
      return done(await listMembers(sql, client.id, page));
    },
  );

const inviteRoute = ({ sql, secrets, log }: Parts) =>
  route.post(
    'inviteClientMember',
    {
      summary: 'Make a link by which one person joins a client',
      description: 'The link holds for an hour, once. No cache may store it.',
      path: { clientId },
      body: form(roleForm, { role: 'owner' }),
      answer: secret(created('The link.', link, exampleOf('invitation'))),
      problems: [409],
    },
    async ({ path: { clientId: slug }, body: { role }, request }) => {
      const client = await findClient(sql, slug);
      if (client === null) return noClient(slug);
      const made = await invite(sql, secrets, operatorOrigin(client.id, request), role);
      if (typeof made === 'string') return refusalOf(made, slug);
      logAccountAction(log, request, 'member.invite', { client: slug, role });
      return shownLink(made);
    },
  );

const changeRoute = ({ sql, log }: Parts) =>
  route.patch(
    'changeClientMember',
    {
      at: ':email',
      summary: 'Give a member of a client another role',
      description: 'It holds within a second.',
      path,
      body: form(roleForm, { role: 'viewer' }),
      answer: shown('The member.', member, { ...MEMBER, role: 'viewer' }),
      problems: [409],
    },
    async ({ path: { clientId: slug, email }, body: { role }, request }) => {
      const found = await findMember(sql, slug, email, request);
      if ('ok' in found) return found;
      const changed = await giveRole(sql, found.origin, found.accountId, role);
      if (typeof changed === 'string') return refusalOf(changed, slug, email);
      logAccountAction(log, request, 'member.role', { client: slug, email, role });
      return done(changed);
    },
  );

const removeRoute = (parts: Parts) =>
  route.delete(
    'removeClientMember',
    {
      at: ':email',
      summary: 'Remove a member from a client',
      description: 'The account stays: it may belong to other clients.',
      path,
      query: { cancelJobs },
      answer: noContent('Removed, and the jobs cancelled where that was asked for.'),
      problems: [409],
    },
    async ({ path: { clientId: slug, email }, query, request }) => {
      const found = await findMember(parts.sql, slug, email, request);
      if ('ok' in found) return found;
      const { origin, accountId } = found;
      const removed = await removeMember(parts.sql, origin, accountId, cancelDetail(query));
      if (typeof removed === 'string') return refusalOf(removed, slug, email);
      if (query.cancelJobs) await parts.cancelJobs(origin.clientId, removed.email);
      logAccountAction(parts.log, request, 'member.remove', { client: slug, email, ...query });
      return done(null);
    },
  );

/** The account, which may belong to the client; the origin is the operator. */
async function findMember(
  sql: SqlPool,
  slug: string,
  email: string,
  request: HttpRequest,
): Promise<{ readonly origin: AuditOrigin; readonly accountId: number } | Refusal> {
  const client = await findClient(sql, slug);
  if (client === null) return noClient(slug);
  const account = await findAccount(sql, email);
  if (account === null) return refusalOf('unknown', slug, email);
  return { origin: operatorOrigin(client.id, request), accountId: account.id };
}

function refusalOf(refusal: MemberRefusal | LinkRefusal, client: string, email = ''): Refusal {
  switch (refusal) {
    case 'unknown':
      return refused(404, `${email} does not belong to client ${client}.`);
    case 'last-owner':
      return refused(
        409,
        `${email} is the last owner of client ${client}: make another member an owner first.`,
      );
    case 'too-many':
      return refused(
        409,
        `Client ${client} has ${LINKS_PER_CLIENT_MAX} links that nobody has used yet.`,
      );
    case 'no-owner':
      throw new Error('the operator was taken for a member');
  }
}
