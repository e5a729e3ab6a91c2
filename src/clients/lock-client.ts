/**
 * Every change of a client's tags, groups, apps or credentials begins with a lock of its row. So
 * the changes of one client take turns: they cannot deadlock, and two requests for one new sourceId
 * make one tag.
 *
 * `no key` leaves the lock open to foreign keys: a push is accepted while tags change.
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
 * Holds the row of the client as a foreign key does (audit_entries has one). A transaction that
 * locks other rows before it records its change begins with it: compaction locks the client first,
 * and other rows then (devices/sql/bar-sends.ts), so the other order deadlocks.
 */
export async function shareClient(tx: Sql, clientId: number): Promise<void> {
  await tx`select from clients where id = ${clientId} for key share`;
}

/**
 * Makes every cache of the client's tags, groups and apps outdated. It belongs into the transaction
 * of the change.
 */
export async function raiseCatalogueVersion(sql: Sql, clientId: number): Promise<void> {
  await sql`update clients set catalogue_version = catalogue_version + 1 where id = ${clientId}`;
}
