/** Removes deleted and disconnected tags from devices, one device group at a time. */

import type { Fragment, Sql, SqlPool } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { firstOrdinalOf, lastOrdinalOf } from '../../domain/device.ts';
import type { DeviceGroupChange, DeviceGroupKey } from '../../domain/device-group-change.ts';
import { changesOf } from '../../domain/device-group-change.ts';
import {
  recordChanges,
  subscribersBy,
  touchedDeviceGroups,
} from '../../statistics/record-changes.ts';
import { ERASING_SLOT } from '../../statistics/slots.ts';

/** A device group, and the unwanted tags that it may have. */
export interface TagsOfGroup extends DeviceGroupKey {
  readonly tagIds: readonly number[];
}

/**
 * The first `limit` pairs of a group and a tag deleted before a time. A tag stays while an open
 * notification excludes it: that would reach the devices otherwise.
 */
export const deletedTags = (sql: Sql, deletedBeforeMs: number, limit: number) =>
  byGroup(
    sql,
    sql`
      select g.app_id, g.platform_id, g.group_number, g.tag_id
      from tags t
      join apps a on a.client_id = t.client_id
      join app_platforms p on p.app_id = a.id
      join device_group_tags g on g.app_id = p.app_id and g.platform_id = p.platform_id and g.tag_id = t.id
      where t.deleted_at < to_timestamp(${deletedBeforeMs}::float8 / 1000)
        -- Asked once, and only if there is such a tag.
        and t.id not in (${tagsOfOpenConditions(sql)})
      limit ${limit}`,
  );

/** The tags that open notifications exclude. An expression's ids are negative where negated. */
const tagsOfOpenConditions = (sql: Sql): Fragment => sql`
  select unnest(none_tag_ids) from notifications where finished_at is null and none_tag_ids <> '{}'
  union all
  select abs(tag::text::integer)
  from notifications, jsonb_path_query(audience_condition::jsonb, '$.** ? (@.type() == "number")') as tag
  where finished_at is null and audience_condition is not null`;

/**
 * Tags in apps that they were disconnected from, likewise; of all tags, or of these. Not those
 * whose members there a bulk operation still needs to know, as it was accepted before.
 */
export const disconnectedTags = (sql: Sql, limit: number, tagIds?: readonly number[]) =>
  byGroup(
    sql,
    sql`
      select g.app_id, g.platform_id, g.group_number, g.tag_id
      from tags t
      join apps a on a.client_id = t.client_id and not a.id = any (t.app_ids)
      join app_platforms p on p.app_id = a.id
      join device_group_tags g on g.app_id = p.app_id and g.platform_id = p.platform_id and g.tag_id = t.id
      where t.deleted_at is null and t.app_ids is not null
        and not exists (
          select from bulk_operations o
          where o.client_id = t.client_id and o.ended_at is null and o.member_of = t.id
            and (o.app_ids is null or a.id = any (o.app_ids))
        )
        ${tagIds === undefined ? sql`` : sql`and t.id = any (${list(tagIds)}::integer[])`}
      limit ${limit}`,
  );

/** Those of the tags whose members a bulk operation still needs to know, in some app. */
export async function tagsInOperations(
  sql: Sql,
  tagIds: readonly number[],
): Promise<readonly number[]> {
  const rows = await sql<{ id: number }[]>`
    select distinct o.member_of as id
    from tags t join bulk_operations o on o.client_id = t.client_id and o.member_of = t.id
    where t.id = any (${list(tagIds)}::integer[]) and o.ended_at is null`;
  return rows.map(({ id }) => id);
}

const byGroup = (sql: Sql, pairs: Fragment) => sql<TagsOfGroup[]>`
  select app_id as "appId", platform_id as "platformId", group_number as "groupNumber",
    array_agg(distinct tag_id) as "tagIds"
  from (${pairs}) as pairs
  group by 1, 2, 3 order by 1, 2, 3`;

interface RemovedTags {
  readonly devices: number;
  readonly changes: readonly DeviceGroupChange[];
}

/**
 * Removes the tags from up to `limit` devices, except tags wanted again. Locks the devices; those
 * locked by another transaction wait for the next time.
 */
export const removeTags = (
  sql: SqlPool,
  { tagIds, ...group }: TagsOfGroup,
  limit: number,
): Promise<RemovedTags> =>
  transact(sql, async (tx) => {
    const { appId, platformId, groupNumber } = group;
    const unwanted = await stillUnwanted(tx, appId, tagIds);
    const cleared = await tx<{ ordinal: number; lost: number[]; left: number }[]>`
      with free as (
        select app_id, platform_id, ordinal, tag_ids from devices
        where ${devicesWith(tx, group, unwanted)}
        order by device_key limit ${limit}
        for no key update skip locked
      )
      update devices d set tag_ids = array(select unnest(d.tag_ids) except select unnest(${list(unwanted)}::integer[]) order by 1)
      from free
      where d.app_id = free.app_id and d.platform_id = free.platform_id and d.ordinal = free.ordinal
      returning d.ordinal, array(select unnest(free.tag_ids) intersect select unnest(${list(unwanted)}::integer[])) as lost,
        cardinality(d.tag_ids) as left`;
    const changes = cleared.map(({ ordinal, lost, left }) => ({
      appId,
      platformId,
      ordinal,
      gained: [],
      lost,
      subscribers: subscribersBy(left + lost.length, left),
    }));
    const raised = await recordChanges(tx, changes, touchedDeviceGroups(changes), ERASING_SLOT);
    await tx`
      select from device_groups
      where app_id = ${appId} and platform_id = ${platformId} and group_number = ${groupNumber} for update`;
    // After the lock: a later transaction that gives a device such a tag finds another epoch.
    await tx`
      with removed as (
        delete from device_group_tags
        where app_id = ${appId} and platform_id = ${platformId} and tag_id = any (${list(unwanted)}::integer[])
          and group_number = ${groupNumber}
          and tag_id not in (select unnest(tag_ids) from devices where ${devicesWith(tx, group, unwanted)})
        returning tag_id
      )
      update device_groups set tags_epoch = tags_epoch + 1
      where app_id = ${appId} and platform_id = ${platformId} and group_number = ${groupNumber}
        and exists (select from removed)`;
    return { devices: cleared.length, changes: changesOf(raised, { tags: changes }) };
  });

const devicesWith = (
  tx: Sql,
  { appId, platformId, groupNumber }: DeviceGroupKey,
  tagIds: readonly number[],
) => tx`
  app_id = ${appId} and platform_id = ${platformId}
  and ordinal between ${firstOrdinalOf(groupNumber)} and ${lastOrdinalOf(groupNumber)}
  and tag_ids && ${list(tagIds)}::integer[]`;

async function stillUnwanted(
  tx: Sql,
  appId: number,
  tagIds: readonly number[],
): Promise<readonly number[]> {
  const rows = await tx<{ id: number }[]>`
    select id from tags
    where id = any (${list(tagIds)}::integer[]) and (deleted_at is not null or not ${appId} = any (app_ids))`;
  return rows.map(({ id }) => id);
}

/** Deletes tags that were deleted before a time and that no group may have, with their days. */
export async function deleteDeletedTags(sql: Sql, deletedBeforeMs: number): Promise<number> {
  const deleted = await sql`
    with gone as (
      delete from tags t
      where t.deleted_at < to_timestamp(${deletedBeforeMs}::float8 / 1000)
        and not exists (
          select from apps a
          join app_platforms p on p.app_id = a.id
          join device_group_tags g on g.app_id = p.app_id and g.platform_id = p.platform_id and g.tag_id = t.id
          where a.client_id = t.client_id
        )
      returning id
    ),
    days as (delete from tag_days where tag_id in (select id from gone)),
    sent as (delete from notification_days where object_id in (select id from gone))
    select id from gone`;
  return deleted.length;
}
