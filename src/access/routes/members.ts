/** `members`: owners list who belongs to the client, invite, change roles, remove, and help out. */

import type { SqlPool } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { originOf } from '../../http/audit-origin.ts';
import type { HttpRequest, HttpResponse, OwnerRoute } from '../../http/handler.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { pathId } from '../../http/path-id.ts';
import { problem } from '../../http/problem.ts';
import type { MadeLink } from '../accounts/links.ts';
import { LINKS_PER_CLIENT_MAX } from '../accounts/links.ts';
import type { LinkRefusal, MemberRefusal } from '../accounts/members.ts';
import { giveRole, invite, removeMember, resetMember } from '../accounts/members.ts';
import { MEMBERS_PER_CLIENT_MAX } from '../accounts/sign-up.ts';
import type { CancelJobs } from '../cancel-jobs.ts';
import { cancelDetail } from '../cancel-jobs.ts';
import type { Secrets } from '../secrets.ts';
import type { MemberRow } from '../sql/memberships.ts';
import { listMembers } from '../sql/memberships.ts';
import { readCancelJobs } from './cancel-jobs.ts';
import { roleForm } from './forms.ts';
import { CONSOLE_BODY_BYTES_MAX } from './session.ts';

export interface MemberParts {
  readonly sql: SqlPool;
  readonly cancelJobs: CancelJobs;
  readonly secrets: Secrets;
}

const PATH = '/console/api/members';

export function memberRoutes(parts: MemberParts): readonly OwnerRoute[] {
  const { sql, secrets } = parts;
  const shared = { api: 'console', needs: 'owner', bodyBytesMax: CONSOLE_BODY_BYTES_MAX } as const;
  return [
    {
      ...shared,
      operation: 'listMembers',
      method: 'GET',
      path: PATH,
      bodyBytesMax: 0,
      handle: async (_request, { clientId }) => {
        const rows = await listMembers(sql, clientId, {
          afterId: 0,
          limit: MEMBERS_PER_CLIENT_MAX,
        });
        return json(rows.map(show));
      },
    },
    {
      ...shared,
      operation: 'inviteMember',
      method: 'POST',
      path: PATH,
      handle: (request, caller) => inviteOne(sql, secrets, request, caller),
    },
    {
      ...shared,
      operation: 'changeMember',
      method: 'PATCH',
      path: `${PATH}/:id`,
      handle: (request, caller) => change(sql, request, caller),
    },
    {
      ...shared,
      operation: 'removeMember',
      method: 'DELETE',
      path: `${PATH}/:id`,
      handle: (request, caller) => remove(parts, request, caller),
    },
    {
      ...shared,
      operation: 'resetMember',
      method: 'POST',
      path: `${PATH}/:id/reset`,
      handle: (request, caller) => reset(sql, secrets, request, caller),
    },
  ];
}

const show = ({ accountId, email, role, addedAtMs, lastSignedInAtMs }: MemberRow) => ({
  accountId,
  email,
  role,
  addedAt: addedAtMs,
  lastSignInAt: lastSignedInAtMs,
});

async function inviteOne(
  sql: SqlPool,
  secrets: Secrets,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const read = readJsonBody(request, roleForm);
  if (!read.ok) return read.response;
  const link = await invite(sql, secrets, originOf(request, caller), read.value.role);
  return typeof link === 'string' ? refuse(request, link) : showLink(link);
}

async function change(sql: SqlPool, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const accountId = pathId(request);
  if (accountId === null) return refuse(request, 'unknown');
  const read = readJsonBody(request, roleForm);
  if (!read.ok) return read.response;
  const changed = await giveRole(sql, originOf(request, caller), accountId, read.value.role);
  return typeof changed === 'string' ? refuse(request, changed) : json(show(changed));
}

async function remove(
  { sql, cancelJobs }: MemberParts,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const accountId = pathId(request);
  const asked = readCancelJobs(request.query);
  if (asked.faults.length > 0) return invalid(request, asked.faults);
  if (accountId === null) return refuse(request, 'unknown');
  const origin = originOf(request, caller);
  const removed = await removeMember(sql, origin, accountId, cancelDetail(asked));
  if (typeof removed === 'string') return refuse(request, removed);
  if (asked.cancelJobs) await cancelJobs(caller.clientId, removed.email);
  return { status: 204, body: '' };
}

async function reset(
  sql: SqlPool,
  secrets: Secrets,
  request: HttpRequest,
  caller: Caller,
): Promise<HttpResponse> {
  const accountId = pathId(request);
  if (accountId === null) return refuse(request, 'unknown');
  const made = await resetMember(sql, secrets, originOf(request, caller), accountId);
  if (typeof made !== 'string') return showLink(made);
  if (made !== 'not-yours') return refuse(request, made);
  return problem(
    request.requestId,
    409,
    'This account is not of this client alone. Its password is reset by the operator: tagcast member reset.',
  );
}

function refuse(request: HttpRequest, refusal: MemberRefusal | LinkRefusal): HttpResponse {
  const { requestId } = request;
  switch (refusal) {
    case 'unknown':
      return problem(requestId, 404, 'This client has no member with this id.');
    case 'no-owner':
      return problem(requestId, 403, 'This is for owners of the client.');
    case 'last-owner':
      return problem(
        requestId,
        409,
        'This is the last owner of the client: make another member an owner first.',
      );
    case 'too-many':
      return problem(
        requestId,
        409,
        `This client has ${LINKS_PER_CLIENT_MAX} links that nobody has used yet. Each ends within an hour.`,
      );
  }
}

/** The page makes an address of the path: it knows under which one it was reached. */
const showLink = ({ path, expiresAtMs }: MadeLink): HttpResponse => ({
  ...json({ link: path, expiresAt: expiresAtMs }),
  status: 201,
});
