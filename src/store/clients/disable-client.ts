/**
 * Disables and enables a client: its credentials are refused, or work again, from then on. Answers
 * whether there is one; again is no change.
 */

import type { Sql } from '../sql.ts';

export async function disableClient(sql: Sql, slug: string): Promise<boolean> {
  const rows = await sql`
    update clients set disabled_at = coalesce(disabled_at, now()) where slug = ${slug} returning id`;
  return rows.length > 0;
}

export async function enableClient(sql: Sql, slug: string): Promise<boolean> {
  const rows = await sql`update clients set disabled_at = null where slug = ${slug} returning id`;
  return rows.length > 0;
}
