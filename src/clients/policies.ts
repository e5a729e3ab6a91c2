/** The policies that the owners of a client have made (domain/policies.ts). */

import type { Sql } from '../database/sql.ts';
import type { Policies } from '../domain/policies.ts';
import { NO_POLICIES } from '../domain/policies.ts';

export async function readPolicies(sql: Sql, clientId: number): Promise<Policies> {
  const [row] = await sql<{ policies: Policies | null }[]>`
    select policies from clients where id = ${clientId}`;
  return row?.policies ?? NO_POLICIES;
}

/** Within a transaction that holds the client. Without categories it has none again. */
export async function writePolicies(
  sql: Sql,
  clientId: number,
  policies: Policies | null,
): Promise<void> {
  await sql`
    update clients
    set policies = ${policies === null ? null : JSON.stringify(policies)}::text::jsonb
    where id = ${clientId}`;
}
