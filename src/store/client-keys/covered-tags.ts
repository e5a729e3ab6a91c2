/**
 * Finds the named tags that the limits of a key cover: its tags, and the tags in its groups or in
 * groups below them.
 */

import type { Sql } from '../sql.ts';

export interface CoveredTag {
  readonly id: number;
  readonly sourceId: string | null;
}

export const findCoveredTags = (
  sql: Sql,
  clientId: number,
  limits: {
    readonly tagIds: readonly number[] | null;
    readonly groupIds: readonly number[] | null;
  },
  named: { readonly ids: readonly number[]; readonly sourceIds: readonly string[] },
): Promise<readonly CoveredTag[]> =>
  sql<CoveredTag[]>`
    with recursive covered as (
      select id from tag_groups where client_id = ${clientId} and id = any(${[...(limits.groupIds ?? [])]}::integer[])
      union
      select g.id from tag_groups g join covered on g.parent_id = covered.id
    )
    select id, source_id as "sourceId" from tags
    where client_id = ${clientId} and deleted_at is null
      and (id = any(${[...named.ids]}::integer[]) or source_id = any(${[...named.sourceIds]}::text[]))
      and (id = any(${[...(limits.tagIds ?? [])]}::integer[]) or group_id in (select id from covered))`;
