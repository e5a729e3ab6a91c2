/** Removes subscriptions that address nobody: of deleted tags, and in apps that a tag is no longer connected to. */

import { groupOf } from '../../domain/device.ts';
import type { DevicePlace, GroupChange } from '../../domain/group-change.ts';
import { changesOf } from '../../domain/group-change.ts';
import { raiseGroups } from '../devices/raise-groups.ts';
import type { Sql, SqlPool } from '../sql.ts';
import { ERASING_SLOT } from '../tag-days/slots.ts';
import { transact } from '../transact.ts';

/** Where subscriptions of one tag are left that nobody wants. */
export interface Orphanage {
  readonly tagId: number;
  readonly appId: number;
  readonly platformId: number;
}

/** Of tags that were deleted before a time by the database's clock. */
export const ofDeletedTags = (sql: Sql, deletedBeforeMs: number, limit: number) => sql<Orphanage[]>`
  select t.id as "tagId", p.app_id as "appId", p.platform_id as "platformId"
  from tags t
  join apps a on a.client_id = t.client_id
  join app_platforms p on p.app_id = a.id
  where t.deleted_at < to_timestamp(${deletedBeforeMs}::float8 / 1000)
    and exists (
      select from subscriptions s
      where s.app_id = p.app_id and s.platform_id = p.platform_id and s.tag_id = t.id
    )
  limit ${limit}`;

/** Of apps that their tag was disconnected from. */
export const ofDisconnectedApps = (sql: Sql, limit: number) => sql<Orphanage[]>`
  select t.id as "tagId", p.app_id as "appId", p.platform_id as "platformId"
  from tags t
  join apps a on a.client_id = t.client_id and not a.id = any (t.app_ids)
  join app_platforms p on p.app_id = a.id
  where t.deleted_at is null and t.app_ids is not null
    and exists (
      select from subscriptions s
      where s.app_id = p.app_id and s.platform_id = p.platform_id and s.tag_id = t.id
    )
  limit ${limit}`;

export interface RemovedOrphans {
  readonly count: number;
  readonly changes: readonly GroupChange[];
}

/**
 * Removes up to `limit` subscriptions of an orphanage and raises their groups. They are found again to be orphaned in the same statement: a tag may have been connected again.
 * Their devices are locked, as by everybody who changes subscriptions: a registration that is under way would find one there, and tell
 * the index so after this has told that it is gone. Devices that are locked are left for the next time.
 */
export const removeOrphans = (
  sql: SqlPool,
  { tagId, appId, platformId }: Orphanage,
  limit: number,
): Promise<RemovedOrphans> =>
  transact(sql, async (tx) => {
    const places = await tx<DevicePlace[]>`
      with removed as (
        delete from subscriptions s
        where s.app_id = ${appId} and s.platform_id = ${platformId} and s.tag_id = ${tagId}
          and s.ordinal in (
            select free.ordinal from subscriptions orphan
            cross join lateral (
              select d.ordinal from devices d
              where d.app_id = ${appId} and d.platform_id = ${platformId} and d.ordinal = orphan.ordinal
              limit 1 for no key update skip locked
            ) free
            where orphan.app_id = ${appId} and orphan.platform_id = ${platformId} and orphan.tag_id = ${tagId}
            limit ${limit}
          )
          and exists (
            select from tags t where t.id = ${tagId} and (t.deleted_at is not null or not ${appId} = any (t.app_ids))
          )
        returning ordinal
      ),
      days as (
        insert into tag_days (tag_id, day, slot, unsubscribed)
        select ${tagId}::int, (now() at time zone 'utc')::date, ${ERASING_SLOT}::smallint, count(*)
        from removed having count(*) > 0
        on conflict (tag_id, day, slot) do update set unsubscribed = tag_days.unsubscribed + excluded.unsubscribed
      )
      select ${appId}::int as "appId", ${platformId}::int as "platformId", ordinal from removed`;
    const raised = await raiseGroups(
      tx,
      places.map(({ ordinal }) => ({ appId, platformId, groupNumber: groupOf(ordinal) })),
    );
    const removed = places.map((place) => ({ ...place, tagId }));
    return { count: places.length, changes: changesOf(raised, { removed }) };
  });
