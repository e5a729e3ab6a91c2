/** Writes a change into the audit log of its client. */

import type { Sql } from '../database/sql.ts';
import type { AuditActor, AuditedChange, AuditOrigin } from '../domain/audit.ts';
import { CLOCKS_APART_MS_MAX, firstUuidAt, uuidV7 } from '../domain/uuid-v7.ts';

/**
 * Repetitions so long after the first one are in its entry: how often it was done, by the hour.
 * @limit repetitions of a change in this time are one entry → another entry
 */
export const AUDIT_REPEAT_MS = 3_600_000;
/**
 * Further addresses go into the newest: a whole network of them would fill the log.
 * @limit entries of a repeated change in that time, one for each address → further addresses are
 * counted with the newest
 */
const AUDIT_ADDRESSES_MAX = 16;

/**
 * In the transaction of the change. What the same actor has just done to the same object is
 * counted. The entry locks its client: the transaction begins with `lockClient` or `shareClient`,
 * or has locked nothing else.
 */
export async function recordChange(
  tx: Sql,
  { clientId, actor, address, requestId }: AuditOrigin,
  { action, id, name, detail }: AuditedChange,
): Promise<void> {
  const by = actorColumns(actor);
  const written = detail === undefined ? null : JSON.stringify(detail);
  const objectId = id === null ? null : String(id);
  const oldest = firstUuidAt(Date.now() - AUDIT_REPEAT_MS - CLOCKS_APART_MS_MAX);
  await tx`
    with alike as materialized (
      select id, address is not distinct from ${address}::text as is_from_there
      from audit_entries
      where client_id = ${clientId}::integer and action = ${action}::text
        and ${id === null ? tx`object_id is null and object_name is not distinct from ${name}::text` : tx`object_id = ${objectId}::text`}
        and actor_kind = ${actor.kind}::text and actor_id is not distinct from ${by.id}::integer
        and (actor_kind = 'key' or actor_name is not distinct from ${by.name}::text)
        and detail::text is not distinct from ${written}::text
        and id >= ${oldest}::uuid and at > now() - ${AUDIT_REPEAT_MS}::float8 * interval '1 millisecond'
      order by id desc limit ${AUDIT_ADDRESSES_MAX}::integer
    ),
    repeated as (
      update audit_entries set count = count + 1, last_at = now(), object_name = ${name}::text
      where id = (
        select id from alike
        where is_from_there or (select count(*) from alike) = ${AUDIT_ADDRESSES_MAX}::integer
        order by is_from_there desc, id desc limit 1
      )
      returning id
    )
    insert into audit_entries (id, client_id, actor_kind, actor_id, actor_name, action, object_id, object_name,
      address, request_id, detail)
    select ${uuidV7()}::uuid, ${clientId}::integer, ${actor.kind}::text, ${by.id}::integer,
      coalesce(${by.name}::text, (select k.name from client_keys k where ${actor.kind}::text = 'key' and k.id = ${by.id}::integer)),
      ${action}::text, ${objectId}::text, ${name}::text, ${address}::text, ${requestId}::text,
      ${written}::text::json
    where not exists (select from repeated)`;
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
