/** Finds clients: one by its slug, or all of them by slug. */

import type { Sql } from '../sql.ts';

export interface ClientRow {
  readonly id: number;
  readonly slug: string;
  readonly name: string;
  readonly disabled: boolean;
}

export async function findClient(sql: Sql, slug: string): Promise<ClientRow | null> {
  const [row] = await sql<ClientRow[]>`
    select id, slug, name, disabled_at is not null as disabled from clients where slug = ${slug}`;
  return row ?? null;
}

export const listClients = (sql: Sql): Promise<readonly ClientRow[]> =>
  sql<ClientRow[]>`
    select id, slug, name, disabled_at is not null as disabled from clients order by slug`;
