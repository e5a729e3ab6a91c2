/** Reads a client's tags in the order of their ids, a page at a time, or one of them. */

import type { Fragment, Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { Tag } from '../../domain/tag.ts';
import type { KeyLimits } from '../covered-tags.ts';
import { andReadable, groupsBelow } from '../covered-tags.ts';

interface TagFilter {
  readonly text: string | null;
  /** In it; 0: in none. */
  readonly groupId: number | null;
  /** Also in the groups below it. */
  readonly withGroupsBelow: boolean;
  readonly sourceId: string | null;
  readonly appId: number | null;
  readonly ids: readonly number[] | null;
}

export interface ListedTag extends Tag {
  readonly groupSourceId: string | null;
  /** Devices with it, in the apps that the caller may see; absent: not asked for. */
  readonly devices?: number;
}

interface TagsToList {
  readonly clientId: number;
  readonly filter: TagFilter;
  readonly limits: KeyLimits | undefined;
  readonly afterId: number;
  readonly limit: number;
  readonly withDevices: boolean;
}

/** Those that are not deleted; expired ones are among them. */
export const listTags = (
  sql: Sql,
  { clientId, filter, limits, afterId, limit, withDevices }: TagsToList,
): Promise<readonly ListedTag[]> =>
  select(
    sql,
    clientId,
    sql`and t.id > ${afterId} ${conditions(sql, clientId, filter)} ${andReadable(sql, clientId, limits)}
      order by t.id limit ${limit}`,
    withDevices ? devicesOf(sql, limits) : sql``,
  );

export async function readListedTag(
  sql: Sql,
  clientId: number,
  id: number,
): Promise<ListedTag | null> {
  const [tag] = await select(sql, clientId, sql`and t.id = ${id}`);
  return tag ?? null;
}

const select = (sql: Sql, clientId: number, rest: Fragment, more = sql``) => sql<ListedTag[]>`
  select t.id, t.client_id as "clientId", t.name, t.source_id as "sourceId", t.group_id as "groupId",
    t.optional_parameters as "optionalParameters", t.expires_at_ms as "expiresAtMs", t.app_ids as "appIds",
    g.source_id as "groupSourceId" ${more}
  from tags t left join tag_groups g on g.id = t.group_id
  where t.client_id = ${clientId} and t.deleted_at is null ${rest}`;

/** The sum of the days on which devices came and went: as many rows as there were such days. */
const devicesOf = (sql: Sql, limits: KeyLimits | undefined): Fragment => sql`, (
    select greatest(0, coalesce(sum(d.subscribed - d.unsubscribed), 0))::bigint from tag_days d
    where d.tag_id = t.id ${limits?.appIds ? sql`and d.app_id = any(${list(limits.appIds)}::integer[])` : sql``}
  ) as devices`;

const conditions = (
  sql: Sql,
  clientId: number,
  { text, groupId, withGroupsBelow, sourceId, appId, ids }: TagFilter,
): Fragment => sql`
  ${ids === null ? sql`` : sql`and t.id = any(${list(ids)}::integer[])`}
  ${text === null ? sql`` : sql`and ${hasText(sql, text)}`}
  ${groupId === null ? sql`` : sql`and t.group_id ${inGroup(sql, clientId, groupId, withGroupsBelow)}`}
  ${sourceId === null ? sql`` : sql`and t.source_id = ${sourceId}`}
  ${appId === null ? sql`` : sql`and (t.app_ids is null or ${appId} = any (t.app_ids))`}`;

function inGroup(sql: Sql, clientId: number, groupId: number, withGroupsBelow: boolean): Fragment {
  if (groupId === 0) return sql`is null`;
  if (!withGroupsBelow) return sql`= ${groupId}`;
  return sql`in (${groupsBelow(sql, clientId, { groupIds: [groupId] })})`;
}

/**
 * Uses strpos, for which a `%` or `_` of a name is itself. Letters of ASCII, the usual ones, are
 * folded by the collation "C", which takes a third of the time: a client may have 100,000 tags.
 */
function hasText(sql: Sql, text: string): Fragment {
  const collation = ASCII.test(text) ? sql`collate "C"` : sql``;
  const folded = sql`lower(${text}::text ${collation})`;
  return sql`
    (strpos(lower(t.name ${collation}), ${folded}) > 0 or strpos(lower(t.source_id ${collation}), ${folded}) > 0)`;
}

const ASCII = /^[\x20-\x7e]*$/;
