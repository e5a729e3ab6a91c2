/**
 * Which keys, other than those in use, credentials and keys in force were made with: none of those
 * is ever found again.
 */

import type { Sql } from '../sql.ts';

export async function foreignKeyIds(
  sql: Sql,
  keyIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ keyId: string }[]>`
    select key_id as "keyId" from (
      select key_id, expires_at from credentials union all select key_id, expires_at from client_keys
    ) as made
    where key_id <> all(${[...keyIds]}::text[]) and (expires_at is null or expires_at > now())
    group by 1 order by 1`;
  return rows.map((row) => row.keyId);
}
