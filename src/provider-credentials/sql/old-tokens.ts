/** Deletes providers' tokens that are not used any more. */

import type { Sql } from '../../database/sql.ts';

/** Deletes tokens not made or refused since a time. Answers how many, at most `limit`. */
export async function deleteProviderTokens(
  sql: Sql,
  unusedSinceMs: number,
  limit: number,
): Promise<number> {
  const deleted = await sql`
    delete from provider_tokens where identity in (
      select identity from provider_tokens
      where touched_at < to_timestamp(${unusedSinceMs}::float8 / 1000)
      order by touched_at limit ${limit}
    )`;
  return deleted.count;
}
