/**
 * Erases what a deleted app leaves beside push jobs: one kind and a bounded piece in a statement.
 */

import type { AppDeletion } from '../../catalogue/list-deletions.ts';
import { lockClient, raiseCatalogueVersion } from '../../clients/lock-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { DeviceGroupKey, DevicePlace } from '../../domain/device-group-change.ts';

export const devicesOfApp = (
  sql: Sql,
  { appId, platformIds }: AppDeletion,
  limit: number,
): Promise<readonly DevicePlace[]> =>
  sql<DevicePlace[]>`
    select d.app_id as "appId", d.platform_id as "platformId", d.ordinal
    from unnest(${list(platformIds)}::smallint[]) as p(id)
    cross join lateral (
      select app_id, platform_id, ordinal from devices
      where app_id = ${appId} and platform_id = p.id order by ordinal limit ${limit}
    ) d
    limit ${limit}`;

/** Tags that were for the app are so no more; one for it alone is for none. Answers how many. */
export const disconnectTags = (
  sql: SqlPool,
  { appId, clientId }: AppDeletion,
  limit: number,
): Promise<number> =>
  transact(sql, async (tx) => {
    await lockClient(tx, clientId);
    const changed = await tx`
      update tags set app_ids = array_remove(app_ids, ${appId}::integer)
      where id in (
        select id from tags where client_id = ${clientId} and ${appId}::integer = any (app_ids) limit ${limit}
      )`;
    if (changed.count > 0) await raiseCatalogueVersion(tx, clientId);
    return changed.count;
  });

/** Which groups may have which tags, and where compaction moved devices. Answers how many rows. */
export async function eraseOfApp(
  sql: Sql,
  table: 'device_group_tags' | 'moved_ordinals',
  { appId }: AppDeletion,
  limit: number,
): Promise<number> {
  const erased = await sql`
    delete from ${sql(table)} where ctid = any (array(
      select ctid from ${sql(table)} where app_id = ${appId} limit ${limit}
    ))`;
  return erased.count;
}

/** Counts of tags there, tag 0 too. Goes through the client's tags: the table is sorted by tag. */
export async function eraseTagDays(
  sql: Sql,
  { appId, clientId }: AppDeletion,
  limit: number,
): Promise<number> {
  const erased = await sql`
    delete from tag_days where ctid = any (array(
      select d.ctid
      from (select id from tags where client_id = ${clientId} union all select 0) t
      join tag_days d on d.tag_id = t.id and d.app_id = ${appId}
      limit ${limit}
    ))`;
  return erased.count;
}

/** Erases the events of its devices. Returns how many rows. */
export async function eraseDeviceEventsOfApp(
  sql: Sql,
  { appId }: AppDeletion,
  limit: number,
): Promise<number> {
  const erased = await sql`
    delete from device_events where ctid = any (array(
      select ctid from device_events where app_id = ${appId} limit ${limit}
    ))`;
  return erased.count;
}

/** Erases the groups: their versions are not compared any more. */
export const eraseDeviceGroups = (
  sql: Sql,
  { appId }: AppDeletion,
  limit: number,
): Promise<readonly DeviceGroupKey[]> =>
  sql<DeviceGroupKey[]>`
    delete from device_groups where ctid = any (array(
      select ctid from device_groups where app_id = ${appId} limit ${limit}
    ))
    returning app_id as "appId", platform_id as "platformId", group_number as "groupNumber"`;

export async function closeAppDeletion(sql: Sql, { appId }: AppDeletion): Promise<void> {
  // A check of its credential may have ended after it was deleted.
  await sql`delete from credential_health where app_id = ${appId}`;
  await sql`delete from notification_days where object_id = ${appId}`;
  await sql`delete from app_deletions where app_id = ${appId}`;
}
