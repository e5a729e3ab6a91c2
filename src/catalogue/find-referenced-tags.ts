/** Finds the tags that pushes name, by id or sourceId, without deleted ones; marks expired ones. */

import type { Sql } from '../database/sql.ts';
import { list, textList } from '../database/sql.ts';

export interface ReferencedTag {
  readonly id: number;
  readonly sourceId: string | null;
  readonly isExpired: boolean;
  /** Null: connected to every app of the client. */
  readonly appIds: readonly number[] | null;
}

/** A tag that is named both ways comes twice. */
export const findReferencedTags = (
  sql: Sql,
  clientId: number,
  { ids, sourceIds }: { readonly ids: readonly number[]; readonly sourceIds: readonly string[] },
) => {
  const columns = sql`
    id, source_id as "sourceId", app_ids as "appIds",
    coalesce(expires_at_ms <= extract(epoch from now()) * 1000, false) as "isExpired"`;
  return sql<ReferencedTag[]>`
    select ${columns} from tags
    where client_id = ${clientId} and id = any(${list(ids)}::integer[]) and deleted_at is null
    union all
    select ${columns} from tags
    where client_id = ${clientId} and source_id = any(${textList(sourceIds)}::text[])
      and deleted_at is null`;
};
