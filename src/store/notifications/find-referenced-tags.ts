/**
 * The tags that pushes name, by id or source id; deleted ones are gone, expired ones are told as
 * such.
 */

import type { Sql } from '../sql.ts';
import { list, textList } from '../sql.ts';

export interface ReferencedTag {
  readonly clientId: number;
  readonly id: number;
  readonly sourceId: string | null;
  readonly isExpired: boolean;
  /** Null: connected to every app of the client. */
  readonly appIds: readonly number[] | null;
}

/** What one push names. */
export interface Naming {
  readonly clientId: number;
  readonly ids: readonly number[];
  readonly sourceIds: readonly string[];
}

/**
 * Once for each time that one is named. Of an id it may be another client's: whoever asks looks at
 * `clientId`.
 */
export const findReferencedTags = (sql: Sql, namings: readonly Naming[]) => {
  const named = namings.flatMap(({ clientId, sourceIds }) =>
    sourceIds.map((sourceId) => ({ clientId, sourceId })),
  );
  const columns = sql`
    client_id as "clientId", id, source_id as "sourceId", app_ids as "appIds",
    coalesce(expires_at_ms <= extract(epoch from now()) * 1000, false) as "isExpired"`;
  return sql<ReferencedTag[]>`
    select ${columns} from tags
    where id = any(${list(namings.flatMap(({ ids }) => ids))}::integer[]) and deleted_at is null
    union all
    select ${columns}
    from unnest(
      ${list(named.map(({ clientId }) => clientId))}::integer[], ${textList(named.map(({ sourceId }) => sourceId))}::text[]
    ) as w(client_id, source_id)
    join tags using (client_id, source_id)
    where deleted_at is null`;
};
