/** Reads a client's groups in the order of their ids, a page at a time, or one of them. */

import type { Fragment, Sql } from '../../database/sql.ts';
import type { TagGroup } from '../../domain/tag.ts';
import type { KeyLimits } from '../covered-tags.ts';
import { andReadableGroup } from '../covered-tags.ts';

export interface ListedTagGroup extends TagGroup {
  readonly parentGroupSourceId: string | null;
}

interface TagGroupsToList {
  readonly clientId: number;
  readonly limits: KeyLimits | undefined;
  readonly afterId: number;
  readonly limit: number;
}

export const listTagGroups = (
  sql: Sql,
  { clientId, limits, afterId, limit }: TagGroupsToList,
): Promise<readonly ListedTagGroup[]> =>
  select(
    sql,
    clientId,
    sql`and g.id > ${afterId} ${andReadableGroup(sql, clientId, limits)} order by g.id limit ${limit}`,
  );

/** Null: the client has none with this id, or the limits of the caller's key do not cover it. */
export async function readListedTagGroup(
  sql: Sql,
  clientId: number,
  id: number,
  limits: KeyLimits | undefined,
): Promise<ListedTagGroup | null> {
  const [group] = await select(
    sql,
    clientId,
    sql`and g.id = ${id} ${andReadableGroup(sql, clientId, limits)}`,
  );
  return group ?? null;
}

const select = (sql: Sql, clientId: number, rest: Fragment) => sql<ListedTagGroup[]>`
  select g.id, g.client_id as "clientId", g.name, g.source_id as "sourceId", g.parent_id as "parentId",
    parent.source_id as "parentGroupSourceId"
  from tag_groups g left join tag_groups parent on parent.id = g.parent_id
  where g.client_id = ${clientId} ${rest}`;
