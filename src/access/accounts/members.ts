/** Members of a client: invited, given another role, removed, helped to a new password. */

import { deleteLinksOf } from '../../store/accounts/links.ts';
import type { MemberRow } from '../../store/accounts/memberships.ts';
import {
  belongsToOnly,
  changeRole,
  deleteMembership,
  hasOtherOwner,
  readMember,
} from '../../store/accounts/memberships.ts';
import { lockClient } from '../../store/clients/lock-client.ts';
import type { Sql, SqlPool } from '../../store/sql.ts';
import { transact } from '../../store/transact.ts';
import type { MemberRole } from '../caller.ts';
import type { Secrets } from '../secrets.ts';
import type { MadeLink } from './links.ts';
import { hasTooManyLinks, makeLink } from './links.ts';

/** `last-owner`: a client without one could not be administered. */
export type MemberRefusal = 'unknown' | 'last-owner';

/** A link for whoever shall join. Null: the client has as many links as it may. */
export const invite = (
  sql: SqlPool,
  secrets: Secrets,
  clientId: number,
  role: MemberRole,
): Promise<MadeLink | null> =>
  transact(sql, async (tx) => {
    await lockClient(tx, clientId);
    if (await hasTooManyLinks(tx, clientId)) return null;
    return makeLink(tx, secrets, { kind: 'invitation', clientId, role });
  });

/** Gives a member another role, which holds within a second. */
export const giveRole = (
  sql: SqlPool,
  clientId: number,
  accountId: number,
  role: MemberRole,
): Promise<MemberRow | MemberRefusal> =>
  transact(sql, async (tx) => {
    const refusal = await whyStays(tx, clientId, accountId, role === 'owner');
    if (refusal !== null) return refusal;
    await changeRole(tx, clientId, accountId, role);
    return (await readMember(tx, clientId, accountId)) ?? 'unknown';
  });

/** Ends a membership. The account stays: it may belong to other clients. */
export const removeMember = (
  sql: SqlPool,
  clientId: number,
  accountId: number,
): Promise<'removed' | MemberRefusal> =>
  transact(sql, async (tx) => {
    const refusal = await whyStays(tx, clientId, accountId, false);
    if (refusal !== null) return refusal;
    await deleteMembership(tx, clientId, accountId);
    return 'removed';
  });

/**
 * A link by which a member sets a new password. `not-yours`: the account also belongs to others, or
 * is an operator's. With the link an owner could sign in as this person there, so he gets none.
 */
export const resetMember = (
  sql: SqlPool,
  secrets: Secrets,
  clientId: number,
  accountId: number,
): Promise<MadeLink | 'unknown' | 'not-yours' | 'too-many'> =>
  transact(sql, async (tx) => {
    await lockClient(tx, clientId);
    if ((await readMember(tx, clientId, accountId)) === null) return 'unknown';
    if (!(await belongsToOnly(tx, clientId, accountId))) return 'not-yours';
    await deleteLinksOf(tx, accountId);
    if (await hasTooManyLinks(tx, clientId)) return 'too-many';
    return makeLink(tx, secrets, { kind: 'reset', accountId, clientId });
  });

/** Locks the client. Null: the member may go, or get another role. */
async function whyStays(
  tx: Sql,
  clientId: number,
  accountId: number,
  staysOwner: boolean,
): Promise<MemberRefusal | null> {
  await lockClient(tx, clientId);
  const member = await readMember(tx, clientId, accountId);
  if (member === null) return 'unknown';
  if (member.role !== 'owner' || staysOwner) return null;
  return (await hasOtherOwner(tx, clientId, accountId)) ? null : 'last-owner';
}
