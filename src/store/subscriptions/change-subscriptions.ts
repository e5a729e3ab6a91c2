/** Changes the subscriptions of a batch of devices and counts, by tag and day, what really changed. */

import type { TouchedGroup } from '../devices/raise-groups.ts';
import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';

interface DeviceRow {
  readonly appId: number;
  readonly platformId: number;
  readonly ordinal: number;
}

export interface SubscriptionRow extends DeviceRow {
  readonly tagId: number;
}

export interface SubscriptionChanges {
  readonly added: readonly SubscriptionRow[];
  /** Of other (device, tag) pairs than `added`. */
  readonly removed: readonly SubscriptionRow[];
  /** Devices that lose every tag that `added` does not give them. */
  readonly cleared: readonly DeviceRow[];
}

/**
 * The devices are locked by the transaction. Tags enter by a join with those that live, never by a foreign-key error.
 * Answers the groups in which anything changed; the caller raises them.
 */
export async function changeSubscriptions(
  tx: Sql,
  { added, removed, cleared }: SubscriptionChanges,
  slot: number,
): Promise<readonly TouchedGroup[]> {
  if (added.length + removed.length + cleared.length === 0) return [];
  return await tx<TouchedGroup[]>`
    with wanted as materialized (
      select * from unnest(${list(appIds(added))}::int[], ${list(platformIds(added))}::int[], ${list(ordinals(added))}::int[],
        ${list(tagIds(added))}::int[]) as wanted (app_id, platform_id, ordinal, tag_id)
    ),
    added as (
      insert into subscriptions (app_id, platform_id, tag_id, ordinal)
      select wanted.app_id, wanted.platform_id, wanted.tag_id, wanted.ordinal
      from wanted
      join tags t on t.id = wanted.tag_id
      where t.deleted_at is null
        and (t.app_ids is null or wanted.app_id = any (t.app_ids))
        and (t.expires_at_ms is null or t.expires_at_ms > extract(epoch from now()) * 1000)
      order by 1, 2, 3, 4
      on conflict do nothing
      returning app_id, platform_id, ordinal, tag_id
    ),
    removed as (
      delete from subscriptions s
      using unnest(${list(appIds(removed))}::int[], ${list(platformIds(removed))}::int[], ${list(ordinals(removed))}::int[],
        ${list(tagIds(removed))}::int[]) as unwanted (app_id, platform_id, ordinal, tag_id)
      where s.app_id = unwanted.app_id and s.platform_id = unwanted.platform_id
        and s.ordinal = unwanted.ordinal and s.tag_id = unwanted.tag_id
      returning s.app_id, s.platform_id, s.ordinal, s.tag_id
    ),
    cleared as (
      delete from subscriptions s
      using unnest(${list(appIds(cleared))}::int[], ${list(platformIds(cleared))}::int[], ${list(ordinals(cleared))}::int[])
        as emptied (app_id, platform_id, ordinal)
      where s.app_id = emptied.app_id and s.platform_id = emptied.platform_id and s.ordinal = emptied.ordinal
        and not exists (
          select from wanted
          where wanted.app_id = s.app_id and wanted.platform_id = s.platform_id
            and wanted.ordinal = s.ordinal and wanted.tag_id = s.tag_id
        )
      returning s.app_id, s.platform_id, s.ordinal, s.tag_id
    ),
    changed as (
      select *, 1 as gained, 0 as lost from added
      union all select *, 0, 1 from removed
      union all select *, 0, 1 from cleared
    ),
    days as (
      insert into tag_days (tag_id, day, slot, subscribed, unsubscribed)
      select tag_id, (now() at time zone 'utc')::date, ${slot}::smallint, sum(gained), sum(lost)
      from changed
      group by tag_id
      order by tag_id
      on conflict (tag_id, day, slot) do update set
        subscribed = tag_days.subscribed + excluded.subscribed,
        unsubscribed = tag_days.unsubscribed + excluded.unsubscribed
    )
    select distinct app_id as "appId", platform_id as "platformId", ordinal / 8192 as "groupNumber"
    from changed`;
}

const appIds = (rows: readonly DeviceRow[]) => rows.map((row) => row.appId);
const platformIds = (rows: readonly DeviceRow[]) => rows.map((row) => row.platformId);
const ordinals = (rows: readonly DeviceRow[]) => rows.map((row) => row.ordinal);
const tagIds = (rows: readonly SubscriptionRow[]) => rows.map((row) => row.tagId);
