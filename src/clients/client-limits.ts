/** The limits that an operator has set for a client. */

import type { Sql } from '../database/sql.ts';
import type { ClientLimitName, ClientLimits } from '../domain/client-limits.ts';

export async function readClientLimits(sql: Sql, slug: string): Promise<ClientLimits | null> {
  const [row] = await sql<{ limits: ClientLimits | null }[]>`
    select limits from clients where slug = ${slug} and deleted_at is null`;
  return row === undefined ? null : (row.limits ?? {});
}

/** Limits to set; null: the default again. */
export type LimitChanges = { readonly [Name in ClientLimitName]?: number | null | undefined };

interface LimitedClient {
  readonly id: number;
  readonly name: string;
  readonly limits: ClientLimits;
}

/** Answers the client as it is then; null: there is none. */
export async function changeClientLimits(
  sql: Sql,
  slug: string,
  changes: LimitChanges,
): Promise<LimitedClient | null> {
  const [row] = await sql<LimitedClient[]>`
    update clients
    set limits = jsonb_strip_nulls(coalesce(limits, '{}') || ${JSON.stringify(changes)}::text::jsonb)
    where slug = ${slug} and deleted_at is null
    returning id, name, limits`;
  return row ?? null;
}
