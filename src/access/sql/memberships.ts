/**
 * Who belongs to a client, under which role. Changes are within a transaction that has locked the
 * client: so two owners cannot take the last role of an owner from each other at once.
 */

import type { Sql } from '../../database/sql.ts';
import type { MemberRole } from '../../domain/caller.ts';

/** With the names of the interface; times are epoch milliseconds. */
export interface MemberRow {
  readonly accountId: number;
  readonly email: string;
  readonly role: MemberRole;
  readonly addedAt: number;
  readonly lastSignInAt: number | null;
}

export const listMembers = (
  sql: Sql,
  clientId: number,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<readonly MemberRow[]> =>
  sql<MemberRow[]>`
    select a.id as "accountId", a.email, m.role,
      floor(extract(epoch from m.added_at) * 1000)::float8 as "addedAt",
      floor(extract(epoch from a.last_signed_in_at) * 1000)::float8 as "lastSignInAt"
    from memberships m join accounts a on a.id = m.account_id
    where m.client_id = ${clientId} and a.id > ${afterId}
    order by a.id limit ${limit}`;

export async function readMember(
  sql: Sql,
  clientId: number,
  accountId: number,
): Promise<MemberRow | null> {
  const [row] = await listMembers(sql, clientId, { afterId: accountId - 1, limit: 1 });
  return row?.accountId === accountId ? row : null;
}

export async function countMembers(sql: Sql, clientId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from memberships where client_id = ${clientId}`;
  return row?.count ?? 0;
}

export async function countMemberships(sql: Sql, accountId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from memberships where account_id = ${accountId}`;
  return row?.count ?? 0;
}

export async function hasOtherOwner(
  sql: Sql,
  clientId: number,
  accountId: number,
): Promise<boolean> {
  const rows = await sql`
    select from memberships
    where client_id = ${clientId} and role = 'owner' and account_id <> ${accountId} limit 1`;
  return rows.length > 0;
}

/** Whether the account belongs to this client and to no other: an owner may answer for it. */
export async function belongsToOnly(
  sql: Sql,
  clientId: number,
  accountId: number,
): Promise<boolean> {
  const [row] = await sql<{ isOnly: boolean }[]>`
    select not a.is_operator and coalesce(bool_and(m.client_id = ${clientId}), false) as "isOnly"
    from accounts a left join memberships m on m.account_id = a.id
    where a.id = ${accountId} group by a.id`;
  return row?.isOnly ?? false;
}

/** Answers false of one who belongs to the client already: he keeps the role that he has. */
export async function insertMembership(
  sql: Sql,
  { clientId, accountId, role }: Pick<MemberRow, 'accountId' | 'role'> & { clientId: number },
): Promise<boolean> {
  const rows = await sql`
    insert into memberships (client_id, account_id, role) values (${clientId}, ${accountId}, ${role})
    on conflict (client_id, account_id) do nothing
    returning 1`;
  return rows.length > 0;
}

export async function changeRole(
  sql: Sql,
  clientId: number,
  accountId: number,
  role: string,
): Promise<void> {
  await sql`
    update memberships set role = ${role} where client_id = ${clientId} and account_id = ${accountId}`;
}

export async function deleteMembership(
  sql: Sql,
  clientId: number,
  accountId: number,
): Promise<void> {
  await sql`delete from memberships where client_id = ${clientId} and account_id = ${accountId}`;
}
