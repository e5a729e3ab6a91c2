/**
 * Every change of a client's tags, groups, apps or credentials begins with locking its row: changes
 * of one client take turns, which is what makes them free of deadlocks, and two requests for one
 * new sourceId make one tag.
 *
 * `no key` leaves the lock open to foreign keys: a push is accepted while tags change.
 */

import type { Sql } from '../sql.ts';

export async function lockClient(sql: Sql, clientId: number): Promise<void> {
  await sql`select 1 from clients where id = ${clientId} for no key update`;
}

/**
 * Tells every cache of the client's tags, groups and apps that it is old; belongs into the
 * transaction of the change.
 */
export async function raiseCatalogueVersion(sql: Sql, clientId: number): Promise<void> {
  await sql`update clients set catalogue_version = catalogue_version + 1 where id = ${clientId}`;
}
