/** Writes a change into the audit log of its client. */

import { v7 as uuidV7 } from 'uuid';
import type { AuditActor, AuditedChange, AuditOrigin } from '../../domain/audit.ts';
import type { Sql } from '../sql.ts';

/**
 * In the transaction of the change: neither is there without the other. The entry locks its client:
 * the transaction begins with `lockClient` or `shareClient` (store/clients/lock-client.ts), or has
 * locked nothing else.
 */
export async function recordChange(
  tx: Sql,
  { clientId, actor, address, requestId }: AuditOrigin,
  { action, id, name, detail }: AuditedChange,
): Promise<void> {
  const by = actorColumns(actor);
  const written = detail === undefined ? null : JSON.stringify(detail);
  await tx`
    insert into audit_entries (id, client_id, actor_kind, actor_id, actor_name, action, object_id, object_name,
      address, request_id, detail)
    select ${uuidV7()}::uuid, ${clientId}::integer, ${actor.kind}::text, ${by.id}::integer,
      coalesce(${by.name}::text, (select k.name from client_keys k where ${actor.kind}::text = 'key' and k.id = ${by.id}::integer)),
      ${action}::text, ${id === null ? null : String(id)}::text, ${name}::text, ${address}::text, ${requestId}::text,
      ${written}::text::json`;
}

function actorColumns(actor: AuditActor): {
  readonly id: number | null;
  readonly name: string | null;
} {
  switch (actor.kind) {
    case 'credential':
      return { id: null, name: actor.name };
    case 'key':
      return { id: actor.id, name: null };
    case 'account':
      return { id: actor.id, name: actor.name };
    case 'operator':
    case 'engine':
      return { id: null, name: null };
  }
}
