/** Deletes entries of audit logs that are too old, or too many of one client. */

import type { Sql } from '../../database/sql.ts';
import { CLOCKS_APART_MS_MAX, firstUuidAt } from '../../domain/uuid-v7.ts';
import { concernsAccess } from './access-entries.ts';

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

/** The two rooms of a log: whatever fills one displaces nothing of the other. */
export type AuditRoom = 'access' | 'other';

/** A room of a log with more entries than it may have. */
export interface FullRoom {
  readonly room: AuditRoom;
  readonly excess: number;
}

export interface ClientLog {
  readonly clientId: number;
  readonly full: readonly FullRoom[];
}

/** Looks at the logs of the next clients after `afterId`, by their ids. */
export async function nextLogs(
  sql: Sql,
  afterId: number,
  limit: number,
  entriesMax: Readonly<Record<AuditRoom, number>>,
): Promise<readonly ClientLog[]> {
  const rows = await sql<{ clientId: number; total: number; access: number }[]>`
    select c.id as "clientId",
      (select count(*) from audit_entries where client_id = c.id)::float8 as total,
      (select count(*) from audit_entries where client_id = c.id and ${concernsAccess(sql)})::float8 as access
    from (select id from clients where id > ${afterId} order by id limit ${limit}) c
    order by c.id`;
  return rows.map(({ clientId, total, access }) => ({
    clientId,
    full: (
      [
        ['access', access],
        ['other', total - access],
      ] as const
    ).flatMap(([room, count]) => {
      const excess = count - entriesMax[room];
      return excess > entriesMax[room] / SLACK ? [{ room, excess }] : [];
    }),
  }));
}

/** Trimmed at a hundredth too many: sorting a log for each new entry would cost more. */
const SLACK = 100;

/**
 * Deletes what is too many, the oldest of the actor with most entries first: who writes very much
 * displaces its own entries before another's. Returns how many, at most `limit`.
 */
export async function trimLog(
  sql: Sql,
  { clientId, room, excess }: FullRoom & Pick<ClientLog, 'clientId'>,
  limit: number,
): Promise<number> {
  const isOfRoom = room === 'access' ? concernsAccess(sql) : sql`not ${concernsAccess(sql)}`;
  const deleted = await sql`
    delete from audit_entries where id = any (array(
      select id from (
        select id, row_number() over (
          partition by actor_kind, actor_id, case when actor_kind = 'credential' then actor_name end order by id desc
        ) as place
        from audit_entries where client_id = ${clientId} and ${isOfRoom}
      ) placed
      order by place desc, id limit ${Math.min(excess, limit)}::integer
    ))`;
  return deleted.count;
}
