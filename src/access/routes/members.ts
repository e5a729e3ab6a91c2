/** `members`: owners list who belongs to the client, invite, change roles, remove, and help out. */

import { z } from 'zod';
import type { SqlPool } from '../../database/sql.ts';
import { MEMBER_ROLES } from '../../domain/caller.ts';
import { created, noContent, shown } from '../../http/answers.ts';
import { originOf } from '../../http/audit-origin.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { CLIENT_HEADER, epochMs, id, word } from '../../http/openapi/parts.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { pathId } from '../../http/parameters.ts';
import type { Refusal } from '../../http/result.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { strictForm } from '../../std/strict-form.ts';
import type { MadeLink } from '../accounts/links.ts';
import { LINKS_PER_CLIENT_MAX } from '../accounts/links.ts';
import type { LinkRefusal, MemberRefusal } from '../accounts/members.ts';
import { giveRole, invite, removeMember, resetMember } from '../accounts/members.ts';
import { MEMBERS_PER_CLIENT_MAX } from '../accounts/sign-up.ts';
import type { CancelJobs } from '../cancel-jobs.ts';
import { cancelDetail } from '../cancel-jobs.ts';
import type { Secrets } from '../secrets.ts';
import { listMembers } from '../sql/memberships.ts';
import { cancelJobs } from './cancel-jobs.ts';
import { exampleOf, link, shownLink } from './made-link.ts';

export interface MemberParts {
  readonly sql: SqlPool;
  readonly cancelJobs: CancelJobs;
  readonly secrets: Secrets;
}

export const roleForm = strictForm({
  role: z.enum(MEMBER_ROLES, `must be ${MEMBER_ROLES.join(', ')}`),
});

export const member = z
  .object({
    accountId: id,
    email: z.string(),
    role: word(MEMBER_ROLES),
    addedAt: epochMs,
    lastSignInAt: epochMs.nullable(),
  })
  .meta({ id: 'Member' });
export const MEMBER = {
  accountId: 2,
  email: 'ben@example.com',
  role: 'publisher',
  addedAt: 1_795_392_000_000,
  lastSignInAt: null,
};

const route = routesAt('/console/api/members', { api: 'console', needs: 'owner' });
const headers = CLIENT_HEADER;
const NO_MEMBER = refuse.unknown('member');
const account: PathParameter<number> = { ...pathId('account', 2), unknown: NO_MEMBER };
const path = { id: account };

const REFUSALS: Readonly<Record<MemberRefusal | LinkRefusal | 'not-yours', Refusal>> = {
  unknown: NO_MEMBER,
  'no-owner': refused(403, 'This is for owners of the client.'),
  'last-owner': refused(
    409,
    'This is the last owner of the client: make another member an owner first.',
  ),
  'too-many': refused(
    409,
    `This client has ${LINKS_PER_CLIENT_MAX} links that nobody has used yet. Each ends within an hour.`,
  ),
  'not-yours': refused(
    409,
    'This account is not of this client alone. Its password is reset by the operator: tagcast member reset.',
  ),
};

export const memberRoutes = (parts: MemberParts): readonly Route[] =>
  [listRoute, inviteRoute, changeRoute, removeRoute, resetRoute].map((make) => make(parts));

const listRoute = ({ sql }: MemberParts) =>
  route.get(
    'listMembers',
    {
      summary: 'List who belongs to the client',
      headers,
      answer: shown('The members, by account.', z.array(member), [MEMBER]),
    },
    async ({ caller: { clientId } }) =>
      done(await listMembers(sql, clientId, { afterId: 0, limit: MEMBERS_PER_CLIENT_MAX })),
  );

const inviteRoute = ({ sql, secrets }: MemberParts) =>
  route.post(
    'inviteMember',
    {
      summary: 'Make a link by which one person joins the client',
      description: 'It holds for an hour, once. No cache may store it.',
      headers,
      problems: [400, 409],
      body: form(roleForm, { role: 'publisher' }),
      answer: created('The link.', link, exampleOf('invitation')),
    },
    async ({ caller, request, body: { role } }) =>
      linkOr(await invite(sql, secrets, originOf(request, caller), role)),
  );

const changeRoute = ({ sql }: MemberParts) =>
  route.patch(
    'changeMember',
    {
      at: ':id',
      summary: 'Give a member another role',
      description: 'It holds within a second on every node. The last owner stays: `409`.',
      headers,
      problems: [409],
      path,
      body: form(roleForm, { role: 'viewer' }),
      answer: shown('The member.', member, { ...MEMBER, role: 'viewer' }),
    },
    async ({ caller, request, path: { id }, body: { role } }) => {
      const changed = await giveRole(sql, originOf(request, caller), id, role);
      return typeof changed === 'string' ? REFUSALS[changed] : done(changed);
    },
  );

const removeRoute = (parts: MemberParts) =>
  route.delete(
    'removeMember',
    {
      at: ':id',
      summary: 'Remove a member from the client',
      description: 'Within a second on every node. The last owner stays: `409`.',
      headers,
      problems: [409],
      path,
      query: { cancelJobs },
      answer: noContent('Removed, and his jobs cancelled where that was asked for.'),
    },
    async ({ caller, request, path: { id }, query }) => {
      const origin = originOf(request, caller);
      const removed = await removeMember(parts.sql, origin, id, cancelDetail(query));
      if (typeof removed === 'string') return REFUSALS[removed];
      if (query.cancelJobs) await parts.cancelJobs(caller.clientId, removed.email);
      return done(null);
    },
  );

const resetRoute = ({ sql, secrets }: MemberParts) =>
  route.post(
    'resetMember',
    {
      at: ':id/reset',
      summary: 'Make a link by which a member sets a new password',
      description:
        'Not for accounts that also belong to other clients or to the operator: `409`. It holds for an hour, once; a link made before ends.',
      headers,
      problems: [409],
      path,
      answer: created('The link.', link, exampleOf('reset')),
    },
    async ({ caller, request, path: { id } }) =>
      linkOr(await resetMember(sql, secrets, originOf(request, caller), id)),
  );

const linkOr = (made: MadeLink | keyof typeof REFUSALS) =>
  typeof made === 'string' ? REFUSALS[made] : shownLink(made);
