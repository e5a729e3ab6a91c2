/**
 * Finds the tags that the limits of a key cover: its tags, and those in its groups or in groups
 * below them; of these, tags that are for one of its apps.
 */

import type { Fragment, Sql } from '../database/sql.ts';
import { list, textList } from '../database/sql.ts';

/** Null: no limit. */
interface TagLimits {
  readonly tagIds: readonly number[] | null;
  readonly groupIds: readonly number[] | null;
}

export interface KeyLimits extends TagLimits {
  readonly appIds: readonly number[] | null;
}

interface CoveredTag {
  readonly id: number;
  readonly sourceId: string | null;
}

/** Which of the tags that are named the limits cover; no limit at all covers none. */
export const findCoveredTags = (
  sql: Sql,
  clientId: number,
  limits: TagLimits,
  named: { readonly ids: readonly number[]; readonly sourceIds: readonly string[] },
): Promise<readonly CoveredTag[]> =>
  sql<CoveredTag[]>`
    select t.id, t.source_id as "sourceId" from tags t
    where t.client_id = ${clientId} and t.deleted_at is null
      and (t.id = any(${list(named.ids)}::integer[]) or t.source_id = any(${textList(named.sourceIds)}::text[]))
      and ${isCovered(sql, clientId, limits)}`;

/** A condition on tags `t` that begins with `and`, or nothing for a caller without limits. */
export const andReadable = (sql: Sql, clientId: number, limits: KeyLimits | undefined): Fragment =>
  sql`${andCovered(sql, limits, () => isCovered(sql, clientId, limits ?? NONE))}
    ${limits?.appIds ? andOfApps(sql, limits.appIds) : sql``}`;

/** Who has no app left reads none, not even those of every app. */
const andOfApps = (sql: Sql, appIds: readonly number[]): Fragment => sql`
  and ${appIds.length > 0}::boolean and (t.app_ids is null or t.app_ids && ${list(appIds)}::integer[])`;

/** The same on groups `g`: those that a key is for, and the ones below. */
export const andReadableGroup = (
  sql: Sql,
  clientId: number,
  limits: KeyLimits | undefined,
): Fragment =>
  andCovered(sql, limits, () => sql`g.id in (${groupsBelow(sql, clientId, limits ?? NONE)})`);

const NONE: TagLimits = { tagIds: null, groupIds: null };

const andCovered = (
  sql: Sql,
  limits: TagLimits | undefined,
  condition: () => Fragment,
): Fragment =>
  (limits?.tagIds ?? limits?.groupIds ?? null) === null ? sql`` : sql`and ${condition()}`;

const isCovered = (sql: Sql, clientId: number, limits: TagLimits): Fragment => sql`
  (t.id = any(${list(limits.tagIds ?? [])}::integer[])
    or t.group_id in (${groupsBelow(sql, clientId, limits)}))`;

/** The ids of groups and of all that are below them. */
export const groupsBelow = (
  sql: Sql,
  clientId: number,
  { groupIds }: Pick<TagLimits, 'groupIds'>,
): Fragment => sql`
  with recursive covered as (
    select id from tag_groups where client_id = ${clientId} and id = any(${list(groupIds ?? [])}::integer[])
    union
    select below.id from tag_groups below join covered on below.parent_id = covered.id
  )
  select id from covered`;
