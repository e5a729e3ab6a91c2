/**
 * Reads the access revision. It changes whenever a credential or key that worked may no longer
 * work: rows read under a revision are valid while it stays the same.
 */

import type { Sql } from '../../database/sql.ts';

export async function readAccessRevision(sql: Sql): Promise<string> {
  const [row] = await sql<{ revision: string }[]>`select revision from access_revision`;
  return row?.revision ?? '';
}
