/** The audit log of a client, newest first. */

import type { Sql } from '../../database/sql.ts';
import type { AuditAction, AuditActor, AuditDetail } from '../../domain/audit.ts';
import { idsBetween } from '../../domain/uuid-v7.ts';
import { AUDIT_REPEAT_MS } from '../record-change.ts';

/** Null: whichever. */
interface AuditFilter {
  readonly action: AuditAction | null;
  /** At this time or later, and before that one; epoch milliseconds. */
  readonly fromMs: number | null;
  readonly toMs: number | null;
}

export interface AuditEntry {
  readonly id: string;
  readonly atMs: number;
  readonly count: number;
  /** When it was done last; null: it was done once. */
  readonly lastAtMs: number | null;
  readonly actorKind: AuditActor['kind'];
  readonly actorId: number | null;
  /** Null: an operator, the engine, or a key that was deleted at that moment. */
  readonly actorName: string | null;
  readonly action: AuditAction;
  readonly objectId: string | null;
  readonly objectName: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly detail: Readonly<Record<string, Exclude<AuditDetail[string], undefined>>> | null;
}

/** `before`: the id of the last one of the page before; null: the first page. */
export function listAuditEntries(
  sql: Sql,
  clientId: number,
  { action, fromMs, toMs }: AuditFilter,
  { before, limit }: { readonly before: string | null; readonly limit: number },
): Promise<readonly AuditEntry[]> {
  // An entry that began before this time may have a repetition after it.
  const { first, end } = idsBetween(fromMs === null ? null : fromMs - AUDIT_REPEAT_MS, toMs);
  const below = before !== null && before < end ? before : end;
  return sql<AuditEntry[]>`
    select id, floor(extract(epoch from at) * 1000)::float8 as "atMs", count,
      floor(extract(epoch from last_at) * 1000)::float8 as "lastAtMs", actor_kind as "actorKind",
      actor_id as "actorId", actor_name as "actorName", action, object_id as "objectId", object_name as "objectName",
      address, request_id as "requestId", detail
    from audit_entries
    where client_id = ${clientId} and id < ${below}::uuid and id >= ${first}::uuid
      ${action === null ? sql`` : sql`and action = ${action}`}
      ${fromMs === null ? sql`` : sql`and coalesce(last_at, at) >= to_timestamp(${fromMs}::float8 / 1000)`}
      ${toMs === null ? sql`` : sql`and at < to_timestamp(${toMs}::float8 / 1000)`}
    order by id desc
    limit ${limit}::integer`;
}
