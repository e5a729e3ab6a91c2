/**
 * Every change of a client's tags, groups, apps or credentials begins with a lock of its row: they
 * cannot deadlock, and two requests for one sourceId make one tag. `no key` leaves the lock open to
 * foreign keys: a push is accepted while tags change.
 */

import type { Sql } from '../database/sql.ts';
import type { ClientLimits } from '../domain/client-limits.ts';

/** Answers the limits that are set for the client: what is made under the lock is within them. */
export async function lockClient(sql: Sql, clientId: number): Promise<ClientLimits> {
  const [row] = await sql<{ limits: ClientLimits | null }[]>`
    select limits from clients where id = ${clientId} for no key update`;
  return row?.limits ?? {};
}

/**
 * Holds the client's row as a foreign key does (audit_entries has one). A transaction that locks
 * other rows first begins with it: compaction locks the client first; the other order deadlocks.
 */
export async function shareClient(tx: Sql, clientId: number): Promise<void> {
  await tx`select from clients where id = ${clientId} for key share`;
}

/** Outdates every cache of the client's catalogue, in the transaction of the change. */
export async function raiseCatalogueVersion(sql: Sql, clientId: number): Promise<void> {
  await sql`update clients set catalogue_version = catalogue_version + 1 where id = ${clientId}`;
}
