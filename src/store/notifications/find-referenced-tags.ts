/** The tags of a client that a push names, by id or source id; deleted ones are gone, expired ones are told as such. */

import type { Sql } from '../sql.ts';

export interface ReferencedTag {
  readonly id: number;
  readonly sourceId: string | null;
  readonly isExpired: boolean;
  /** Null: connected to every app of the client. */
  readonly appIds: readonly number[] | null;
}

export const findReferencedTags = (
  sql: Sql,
  clientId: number,
  { ids, sourceIds }: { readonly ids: readonly number[]; readonly sourceIds: readonly string[] },
) => sql<ReferencedTag[]>`
  select id, source_id as "sourceId", app_ids as "appIds",
    coalesce(expires_at_ms <= extract(epoch from now()) * 1000, false) as "isExpired"
  from tags
  where client_id = ${clientId} and deleted_at is null
    and (id = any(${[...ids]}::integer[]) or source_id = any(${[...sourceIds]}::text[]))`;
