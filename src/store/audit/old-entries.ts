/** Deletes entries of audit logs that are too old, or too many of one client. */

import { CLOCKS_APART_MS_MAX, firstUuidAt } from '../../domain/uuid-v7.ts';
import type { Sql } from '../sql.ts';

/** Answers how many, at most `limit`. */
export async function deleteOldAuditEntries(
  sql: Sql,
  beforeMs: number,
  limit: number,
): Promise<number> {
  const end = firstUuidAt(beforeMs + CLOCKS_APART_MS_MAX);
  const deleted = await sql`
    delete from audit_entries where id = any (array(
      select id from audit_entries
      where id < ${end}::uuid and at < to_timestamp(${beforeMs}::float8 / 1000)
      order by id limit ${limit}
    ))`;
  return deleted.count;
}

/** A client with more entries than it may have. */
export interface FullLog {
  readonly clientId: number;
  /** Of the newest one that is too many. */
  readonly newestId: string;
}

/** Looks at the next clients behind `afterId`, by their ids. */
export async function findFullLogs(
  sql: Sql,
  afterId: number,
  { clients, entriesMax }: { readonly clients: number; readonly entriesMax: number },
): Promise<{ readonly lastId: number | null; readonly full: readonly FullLog[] }> {
  const rows = await sql<{ clientId: number; newestId: string | null }[]>`
    select c.id as "clientId", (
      select e.id from audit_entries e where e.client_id = c.id order by e.id desc offset ${entriesMax} limit 1
    ) as "newestId"
    from (select id from clients where id > ${afterId} order by id limit ${clients}) c
    order by c.id`;
  return {
    lastId: rows.length < clients ? null : (rows.at(-1)?.clientId ?? null),
    full: rows.flatMap(({ clientId, newestId }) =>
      newestId === null ? [] : [{ clientId, newestId }],
    ),
  };
}

/** Deletes that one and older ones. Answers how many, at most `limit`. */
export async function trimLog(
  sql: Sql,
  { clientId, newestId }: FullLog,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from audit_entries where id = any (array(
      select id from audit_entries where client_id = ${clientId} and id <= ${newestId}::uuid
      order by id limit ${limit}
    ))`;
  return deleted.count;
}
