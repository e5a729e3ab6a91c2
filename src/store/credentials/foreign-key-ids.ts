/** Which keys, other than the one in use, credentials in force were made with: none of those is ever found again. */

import type { Sql } from '../sql.ts';

export async function foreignKeyIds(sql: Sql, keyId: string): Promise<readonly string[]> {
  const rows = await sql<{ keyId: string }[]>`
    select distinct key_id as "keyId" from credentials
    where key_id <> ${keyId} and (expires_at is null or expires_at > now())
    order by 1`;
  return rows.map((row) => row.keyId);
}
