/** What the OpenAPI document says of members, and of the credentials that owners see. */

import { z } from 'zod';
import { MEMBER_ROLES } from '../../domain/caller.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import {
  CANCEL_JOBS,
  CLIENT_HEADER,
  epochMs,
  id,
  jsonAnswer,
  noContent,
  pathId,
} from '../../http/openapi/parts.ts';
import { roleForm } from './forms.ts';

const member = z
  .object({
    accountId: id,
    email: z.string(),
    role: z.enum(MEMBER_ROLES),
    addedAt: epochMs,
    lastSignInAt: epochMs.nullable(),
  })
  .meta({ id: 'Member' });
const MEMBER = {
  accountId: 2,
  email: 'ben@example.com',
  role: 'publisher',
  addedAt: 1_795_392_000_000,
  lastSignInAt: null,
} as const;

const link = z.object({
  link: z
    .string()
    .meta({ description: 'A path, for the origin under which the console is reached.' }),
  expiresAt: epochMs,
});
const LINK = { link: '/console/#/invitation/tcl_…', expiresAt: 1_795_392_000_000 };

const account = { id: pathId('account') };

const credential = z
  .object({ userName: z.string(), password: z.string(), token: z.string() })
  .nullable()
  .meta({ description: 'Null: it cannot be read with the `SECRET_KEY` in use.' });

export const memberOperations = {
  listMembers: {
    summary: 'List who belongs to the client',
    headers: CLIENT_HEADER,
    answers: { 200: jsonAnswer('The members, by account.', z.array(member), [MEMBER]) },
  },
  inviteMember: {
    summary: 'Make a link by which one person joins the client',
    description: 'It holds for an hour, once. No cache may store it.',
    headers: CLIENT_HEADER,
    body: { schema: roleForm, example: { role: 'publisher' } },
    answers: { 201: jsonAnswer('The link.', link, LINK) },
    problems: [400, 409],
  },
  changeMember: {
    summary: 'Give a member another role',
    description: 'It holds within a second.',
    path: account,
    headers: CLIENT_HEADER,
    body: { schema: roleForm, example: { role: 'viewer' } },
    answers: { 200: jsonAnswer('The member.', member, { ...MEMBER, role: 'viewer' }) },
    problems: [404, 409],
  },
  removeMember: {
    summary: 'Remove a member from the client',
    path: account,
    query: CANCEL_JOBS,
    headers: CLIENT_HEADER,
    answers: { 204: noContent('Removed, and his jobs cancelled where that was asked for.') },
    problems: [400, 404, 409],
  },
  resetMember: {
    summary: 'Make a link by which a member sets a new password',
    description:
      'Not for accounts that also belong to other clients or to the operator: `409`. It holds for an hour, once; a link made before ends.',
    path: account,
    headers: CLIENT_HEADER,
    answers: {
      201: jsonAnswer('The link.', link, { ...LINK, link: '/console/#/reset/tcl_…' }),
    },
    problems: [404, 409],
  },
  showCredentials: {
    summary: 'Show the credentials of the client and its apps',
    description: 'In clear text. No cache may store them.',
    headers: CLIENT_HEADER,
    answers: {
      200: jsonAnswer(
        'The credentials in force.',
        z.object({
          superUser: credential,
          apps: z.array(z.object({ appId: id, name: z.string(), apiUser: credential })),
        }),
        {
          superUser: { userName: 'demo-super', password: 'x9Kd…', token: 'tcs_…' },
          apps: [],
        },
      ),
    },
  },
} as const satisfies Operations;
