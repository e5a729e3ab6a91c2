/** Makes a client. Answers its id, or null when the slug is taken. */

import type { Sql } from '../database/sql.ts';

export async function insertClient(
  sql: Sql,
  client: { readonly slug: string; readonly name: string },
): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    insert into clients (slug, name) values (${client.slug}, ${client.name})
    on conflict (slug) do nothing
    returning id`;
  return row?.id ?? null;
}
