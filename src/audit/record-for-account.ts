/** Writes what an account did, or what was tried on it, into the audit logs of all its clients. */

import type { Sql } from '../database/sql.ts';
import { list } from '../database/sql.ts';
import type { AuditDetail } from '../domain/audit.ts';
import { uuidV7 } from '../domain/uuid-v7.ts';

export interface AccountEvent {
  readonly action: 'member.sign-in' | 'member.sign-in-refused' | 'member.password';
  readonly accountId: number;
  readonly email: string;
  readonly address: string;
  readonly requestId: string;
  readonly detail: AuditDetail;
}

/** Locks an account's clients as a foreign key does; begins a transaction, like `shareClient`. */
export async function shareClientsOf(tx: Sql, accountId: number): Promise<readonly number[]> {
  const rows = await tx<{ id: number }[]>`
    select c.id from clients c join memberships m on m.client_id = c.id
    where m.account_id = ${accountId} and c.deleted_at is null
    order by c.id for key share of c`;
  return rows.map(({ id }) => id);
}

/** Writes one entry into the log of each of these clients, which are those of the account. */
export async function recordForAccount(
  tx: Sql,
  clientIds: readonly number[],
  { action, accountId, email, address, requestId, detail }: AccountEvent,
): Promise<void> {
  if (clientIds.length === 0) return;
  // The author of a wrong password is unknown: the account is its object.
  const isBySomebodyElse = action === 'member.sign-in-refused';
  const actor = isBySomebodyElse
    ? { kind: 'engine', id: null, name: null }
    : { kind: 'account', id: accountId, name: email };
  await tx`
    insert into audit_entries (id, client_id, actor_kind, actor_id, actor_name, action, object_id, object_name,
      address, request_id, detail)
    select entry.id, entry.client_id, ${actor.kind}::text, ${actor.id}::integer, ${actor.name}::text, ${action}::text,
      ${String(accountId)}::text, ${email}::text, ${address}::text, ${requestId}::text,
      ${JSON.stringify(detail)}::text::json
    from unnest(${list(clientIds.map(() => uuidV7()))}::uuid[], ${list(clientIds)}::integer[])
      as entry (id, client_id)`;
}
