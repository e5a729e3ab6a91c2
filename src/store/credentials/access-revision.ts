/**
 * Another one whenever a credential or key that worked may work no longer: what was read under it
 * holds while it is the same.
 */

import type { Sql } from '../sql.ts';

export async function readAccessRevision(sql: Sql): Promise<string> {
  const [row] = await sql<{ revision: string }[]>`select revision from access_revision`;
  return row?.revision ?? '';
}
