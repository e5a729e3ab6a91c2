/** Disables a client: its credentials are refused from then on. Answers whether there is one; again is no change. */

import type { Sql } from '../sql.ts';

export async function disableClient(sql: Sql, slug: string): Promise<boolean> {
  const rows = await sql`
    update clients set disabled_at = coalesce(disabled_at, now()) where slug = ${slug} returning id`;
  return rows.length > 0;
}
