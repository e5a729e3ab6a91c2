/** Disables or enables a client, and answers whether it exists; a repetition changes nothing. */

import type { Sql } from '../database/sql.ts';

export async function disableClient(sql: Sql, slug: string): Promise<boolean> {
  const rows = await sql`
    update clients set disabled_at = coalesce(disabled_at, now()) where slug = ${slug} and deleted_at is null returning id`;
  return rows.length > 0;
}

export async function enableClient(sql: Sql, slug: string): Promise<boolean> {
  const rows = await sql`
    update clients set disabled_at = null where slug = ${slug} and deleted_at is null returning id`;
  return rows.length > 0;
}
