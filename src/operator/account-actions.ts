/**
 * The operator's actions on accounts of people: his own, and the members of clients. A refusal is a
 * sentence.
 */

import type { Logger } from 'pino';
import { z } from 'zod';
import { readEmail } from '../access/accounts/email.ts';
import type { MadeLink } from '../access/accounts/links.ts';
import { LINKS_PER_CLIENT_MAX, makeLink } from '../access/accounts/links.ts';
import type { LinkRefusal, MemberRefusal } from '../access/accounts/members.ts';
import { giveRole, invite, removeMember } from '../access/accounts/members.ts';
import { MEMBERS_PER_CLIENT_MAX } from '../access/accounts/sign-up.ts';
import { cancelDetail } from '../access/cancel-jobs.ts';
import type { ListedOperator } from '../access/sql/accounts.ts';
import {
  findAccount,
  insertAccount,
  listOperators,
  lockAccount,
  setOperator,
  writePassword,
} from '../access/sql/accounts.ts';
import { deleteLinksOf } from '../access/sql/links.ts';
import type { MemberRow } from '../access/sql/memberships.ts';
import { listMembers } from '../access/sql/memberships.ts';
import { deleteSessionsOf } from '../access/sql/sessions.ts';
import { operatorOrigin } from '../audit/operator-origin.ts';
import { findClient } from '../clients/find-client.ts';
import { transact } from '../database/transact.ts';
import type { MemberRole } from '../domain/caller.ts';
import { MEMBER_ROLES } from '../domain/caller.ts';
import { jobCanceller } from '../push/cancel-jobs.ts';
import { JobJournal } from '../telemetry/job-journal.ts';
import type { CredentialParts } from './credential-actions.ts';
import { slug } from './credential-actions.ts';

type Answer<Value> = { readonly value: Value } | { readonly fault: string };

const email = z
  .string()
  .refine((text) => readEmail(text) !== null, 'must be an e-mail address')
  .transform((text) => readEmail(text) ?? '');
const role = z.enum(MEMBER_ROLES, `must be ${MEMBER_ROLES.join(', ')}`);
const account = z.object({ email });
const member = z.object({ client: slug, email });

export const FORMS = {
  account,
  member,
  invitation: z.object({ client: slug, role }),
  role: member.extend({ role }),
  removal: member.extend({ cancelJobs: z.boolean().default(false) }),
  client: z.object({ client: slug }),
  none: z.object({}),
} as const;

/**
 * More than any installation has.
 * @limit accounts of the operator that are listed → the others are left out
 */
const OPERATORS_LISTED_MAX = 1_000;

/**
 * Makes an account of the operator, and a link by which its password is set. One that is there
 * already loses its password and sessions: the person who signed up with this address may be
 * another one.
 */
export const addOperator = (
  { sql, secrets }: CredentialParts,
  input: z.infer<typeof account>,
): Promise<Answer<MadeLink>> =>
  transact(sql, async (tx) => {
    const made = await insertAccount(tx, { email: input.email, passwordHash: null });
    const accountId = made ?? (await findAccount(tx, input.email))?.id;
    if (accountId === undefined) return noAccount(input.email);
    await lockAccount(tx, accountId);
    await writePassword(tx, accountId, null);
    await deleteSessionsOf(tx, accountId);
    await deleteLinksOf(tx, accountId);
    await setOperator(tx, input.email, true);
    return { value: await makeLink(tx, secrets, { kind: 'reset', accountId, clientId: null }) };
  });

export const listOperatorAccounts = async ({
  sql,
}: CredentialParts): Promise<Answer<readonly ListedOperator[]>> => ({
  value: await listOperators(sql, OPERATORS_LISTED_MAX),
});

/** The account stays, as any other. */
export async function removeOperator(
  { sql }: CredentialParts,
  input: z.infer<typeof account>,
): Promise<Answer<{ readonly email: string }>> {
  return (await setOperator(sql, input.email, false)) ? { value: input } : noAccount(input.email);
}

/** A link by which one person makes a client, where SIGN_UP is `invitation` or `open`. */
export const inviteClient = async ({
  sql,
  secrets,
}: CredentialParts): Promise<Answer<MadeLink>> => ({
  value: await makeLink(sql, secrets, { kind: 'sign-up' }),
});

export async function listClientMembers(
  { sql }: CredentialParts,
  input: z.infer<typeof FORMS.client>,
): Promise<Answer<readonly MemberRow[]>> {
  const client = await findClient(sql, input.client);
  if (client === null) return noClient(input.client);
  const page = { afterId: 0, limit: MEMBERS_PER_CLIENT_MAX };
  return { value: await listMembers(sql, client.id, page) };
}

export async function inviteMember(
  { sql, secrets }: CredentialParts,
  input: { readonly client: string; readonly role: MemberRole },
): Promise<Answer<MadeLink>> {
  const client = await findClient(sql, input.client);
  if (client === null) return noClient(input.client);
  const link = await invite(sql, secrets, operatorOrigin(client.id), input.role);
  return typeof link === 'string' ? refusalOf(link, input) : { value: link };
}

export async function changeMember(
  { sql }: CredentialParts,
  input: z.infer<typeof FORMS.role>,
): Promise<Answer<{ readonly role: MemberRole }>> {
  const found = await findMember({ sql }, input);
  if ('fault' in found) return found;
  const changed = await giveRole(sql, operatorOrigin(found.clientId), found.accountId, input.role);
  return typeof changed === 'string' ? refusalOf(changed, input) : { value: { role: input.role } };
}

export async function dropMember(
  { sql, log }: CredentialParts & { readonly log: Logger },
  input: z.infer<typeof FORMS.removal>,
): Promise<Answer<{ readonly email: string }>> {
  const found = await findMember({ sql }, input);
  if ('fault' in found) return found;
  const { clientId, accountId } = found;
  const removed = await removeMember(sql, operatorOrigin(clientId), accountId, cancelDetail(input));
  if (typeof removed === 'string') return refusalOf(removed, input);
  if (input.cancelJobs) {
    await jobCanceller({ sql, journal: new JobJournal(log) })(clientId, removed.email);
  }
  return { value: { email: input.email } };
}

/** A link by which any account gets a new password. */
export const resetAccount = (
  { sql, secrets }: CredentialParts,
  input: z.infer<typeof account>,
): Promise<Answer<MadeLink>> =>
  transact(sql, async (tx) => {
    const found = await findAccount(tx, input.email);
    if (found === null) return noAccount(input.email);
    const accountId = found.id;
    await lockAccount(tx, accountId);
    await deleteLinksOf(tx, accountId);
    return { value: await makeLink(tx, secrets, { kind: 'reset', accountId, clientId: null }) };
  });

type Found = { readonly clientId: number; readonly accountId: number } | { readonly fault: string };

async function findMember(
  { sql }: Pick<CredentialParts, 'sql'>,
  input: z.infer<typeof member>,
): Promise<Found> {
  const client = await findClient(sql, input.client);
  if (client === null) return noClient(input.client);
  const found = await findAccount(sql, input.email);
  if (found === null) return refusalOf('unknown', input);
  return { clientId: client.id, accountId: found.id };
}

function refusalOf(
  refusal: MemberRefusal | LinkRefusal,
  { client, email }: { readonly client: string; readonly email?: string },
) {
  switch (refusal) {
    case 'unknown':
      return { fault: `${email} does not belong to client ${client}.` };
    case 'last-owner':
      return {
        fault: `${email} is the last owner of client ${client}: make another member an owner first.`,
      };
    case 'too-many':
      return {
        fault: `Client ${client} has ${LINKS_PER_CLIENT_MAX} links that nobody has used yet.`,
      };
    case 'no-owner':
      throw new Error('the operator was taken for a member');
  }
}

const noClient = (client: string) => ({ fault: `There is no client ${client}.` });
const noAccount = (address: string) => ({ fault: `There is no account ${address}.` });
