/** Ids of secret keys not in use that made credentials in force: these can never be found. */

import type { Sql } from '../../database/sql.ts';
import { textList } from '../../database/sql.ts';

export async function foreignKeyIds(
  sql: Sql,
  keyIds: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ keyId: string }[]>`
    select key_id as "keyId" from (
      select key_id, expires_at from credentials union all select key_id, expires_at from client_keys
    ) as made
    where key_id <> all(${textList(keyIds)}::text[]) and (expires_at is null or expires_at > now())
    group by 1 order by 1`;
  return rows.map((row) => row.keyId);
}
