/** Members of a client: invited, given another role, removed, helped to a new password. */

import { recordChange } from '../../audit/record-change.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { AuditedChange, AuditOrigin } from '../../domain/audit.ts';
import type { MemberRole } from '../../domain/caller.ts';
import type { Secrets } from '../secrets.ts';
import { deleteLinksOf, deleteOpenLinks } from '../sql/links.ts';
import type { MemberRow } from '../sql/memberships.ts';
import {
  belongsToOnly,
  changeRole,
  deleteMembership,
  hasOtherOwner,
  readMember,
} from '../sql/memberships.ts';
import { lockAsSuperUser } from '../super-user.ts';
import type { MadeLink } from './links.ts';
import { hasTooManyLinks, makeLink } from './links.ts';

/** `no-owner`: the member who asks has lost that role since his request began. */
type NoOwner = 'no-owner';
/** `last-owner`: a client without one could not be administered. */
export type MemberRefusal = 'unknown' | 'last-owner' | NoOwner;
export type LinkRefusal = 'too-many' | NoOwner;

export const invite = (
  sql: SqlPool,
  secrets: Secrets,
  origin: AuditOrigin,
  role: MemberRole,
): Promise<MadeLink | LinkRefusal> =>
  transact(sql, async (tx) => {
    const { clientId } = origin;
    if ((await lockAsSuperUser(tx, origin)) === null) return 'no-owner';
    if (await hasTooManyLinks(tx, clientId)) return 'too-many';
    await recordChange(tx, origin, {
      action: 'member.invite',
      id: null,
      name: null,
      detail: { role },
    });
    return makeLink(tx, secrets, { kind: 'invitation', clientId, role });
  });

/**
 * Gives a member another role, which holds within a second. With the role of an owner the open
 * links end: he may know those that he has made, and would come back by them.
 */
export const giveRole = (
  sql: SqlPool,
  origin: AuditOrigin,
  accountId: number,
  role: MemberRole,
): Promise<MemberRow | MemberRefusal> =>
  transact(sql, async (tx) => {
    const member = await mayGo(tx, origin, accountId, role === 'owner');
    if (typeof member === 'string' || member.role === role) return member;
    await changeRole(tx, origin.clientId, accountId, role);
    if (member.role === 'owner') await deleteOpenLinks(tx, origin.clientId);
    const change = { action: 'member.change', id: accountId, name: member.email } as const;
    await recordChange(tx, origin, { ...change, detail: { role } });
    return { ...member, role };
  });

/**
 * Ends a membership within a second; answers whose. The account stays. `more`: for the audit log.
 */
export const removeMember = (
  sql: SqlPool,
  origin: AuditOrigin,
  accountId: number,
  more: Pick<AuditedChange, 'detail'> = {},
): Promise<MemberRow | MemberRefusal> =>
  transact(sql, async (tx) => {
    const member = await mayGo(tx, origin, accountId, false);
    if (typeof member === 'string') return member;
    await deleteMembership(tx, origin.clientId, accountId);
    if (member.role === 'owner') await deleteOpenLinks(tx, origin.clientId);
    const change = { action: 'member.delete', id: accountId, name: member.email } as const;
    await recordChange(tx, origin, { ...change, ...more });
    return member;
  });

/**
 * A link by which a member sets a new password. `not-yours`: the account also belongs to others, or
 * is an operator's. With the link an owner could sign in as this person there, so he gets none.
 */
export const resetMember = (
  sql: SqlPool,
  secrets: Secrets,
  origin: AuditOrigin,
  accountId: number,
): Promise<MadeLink | LinkRefusal | 'unknown' | 'not-yours'> =>
  transact(sql, async (tx) => {
    const { clientId } = origin;
    if ((await lockAsSuperUser(tx, origin)) === null) return 'no-owner';
    const member = await readMember(tx, clientId, accountId);
    if (member === null) return 'unknown';
    if (!(await belongsToOnly(tx, clientId, accountId))) return 'not-yours';
    if (await hasTooManyLinks(tx, clientId)) return 'too-many';
    await deleteLinksOf(tx, accountId);
    const change = { action: 'member.reset', id: accountId, name: member.email } as const;
    await recordChange(tx, origin, change);
    return makeLink(tx, secrets, { kind: 'reset', accountId, clientId });
  });

/** Locks the client. Answers the member if he may go, or get another role. */
async function mayGo(
  tx: Sql,
  origin: AuditOrigin,
  accountId: number,
  staysOwner: boolean,
): Promise<MemberRow | MemberRefusal> {
  if ((await lockAsSuperUser(tx, origin)) === null) return 'no-owner';
  const member = await readMember(tx, origin.clientId, accountId);
  if (member === null) return 'unknown';
  if (member.role !== 'owner' || staysOwner) return member;
  return (await hasOtherOwner(tx, origin.clientId, accountId)) ? member : 'last-owner';
}
