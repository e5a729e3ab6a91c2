/** Changes the subscriptions of a batch of devices and counts, by tag and day, what really changed. */

import type { DevicePlace, GroupKey, Subscription } from '../../domain/group-change.ts';
import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';
import { countChanges } from '../tag-days/count-changes.ts';

export interface SubscriptionChanges {
  readonly added: readonly Subscription[];
  /** Devices that lose every tag that `added` does not give them. */
  readonly cleared: readonly DevicePlace[];
}

export interface ChangedSubscriptions {
  /** In which anything changed; the caller raises them. */
  readonly groups: readonly GroupKey[];
  /** What `cleared` cost. */
  readonly cleared: readonly Subscription[];
  /** Of `added`, what was refused because of its tag. */
  readonly refused: readonly Subscription[];
}

/** The devices are locked by the transaction. Tags enter by a join with those that live, never by a foreign-key error. */
export async function changeSubscriptions(
  tx: Sql,
  { added, cleared }: SubscriptionChanges,
  slot: number,
): Promise<ChangedSubscriptions> {
  if (added.length + cleared.length === 0) {
    return { groups: [], cleared: [], refused: [] };
  }
  const rows = await tx<Row[]>`
    with wanted as materialized (
      select * from unnest(${list(appIds(added))}::int[], ${list(platformIds(added))}::int[], ${list(ordinals(added))}::int[],
        ${list(tagIds(added))}::int[]) as wanted (app_id, platform_id, ordinal, tag_id)
    ),
    refused as (
      select app_id, platform_id, ordinal, tag_id from wanted
      where not exists (
        select from tags t
        where t.id = wanted.tag_id and t.deleted_at is null
          and (t.app_ids is null or wanted.app_id = any (t.app_ids))
          and (t.expires_at_ms is null or t.expires_at_ms > extract(epoch from now()) * 1000)
      )
    ),
    added as (
      insert into subscriptions (app_id, platform_id, tag_id, ordinal)
      select app_id, platform_id, tag_id, ordinal from (
        select * from wanted except select * from refused
      ) as welcome
      order by 1, 2, 3, 4
      on conflict do nothing
      returning app_id, platform_id, ordinal, tag_id
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
      union all select *, 0, 1 from cleared
    ),
    days as (${countChanges(tx, slot)})
    select distinct 'group' as kind, app_id as "appId", platform_id as "platformId", ordinal / 8192 as place, 0 as "tagId"
    from changed
    union all select 'cleared', app_id, platform_id, ordinal, tag_id from cleared
    union all select 'refused', app_id, platform_id, ordinal, tag_id from refused`;
  const subscriptionsOf = (kind: Row['kind']): readonly Subscription[] =>
    rows.flatMap(({ appId, platformId, place, tagId, ...row }) =>
      row.kind === kind ? [{ appId, platformId, ordinal: place, tagId }] : [],
    );
  return {
    groups: rows.flatMap(({ kind, appId, platformId, place }) =>
      kind === 'group' ? [{ appId, platformId, groupNumber: place }] : [],
    ),
    cleared: subscriptionsOf('cleared'),
    refused: subscriptionsOf('refused'),
  };
}

interface Row {
  readonly kind: 'group' | 'cleared' | 'refused';
  readonly appId: number;
  readonly platformId: number;
  /** The group's number, or the device's ordinal. */
  readonly place: number;
  readonly tagId: number;
}

const appIds = (rows: readonly DevicePlace[]) => rows.map((row) => row.appId);
const platformIds = (rows: readonly DevicePlace[]) => rows.map((row) => row.platformId);
const ordinals = (rows: readonly DevicePlace[]) => rows.map((row) => row.ordinal);
const tagIds = (rows: readonly Subscription[]) => rows.map((row) => row.tagId);

/** Rows but those that were refused. Hardly ever is any: its tag would have to go between two statements of the transaction. */
export function without(
  rows: readonly Subscription[],
  refused: readonly Subscription[],
): readonly Subscription[] {
  if (refused.length === 0) return rows;
  const nameOf = ({ appId, platformId, ordinal, tagId }: Subscription): string =>
    `${appId}.${platformId}.${ordinal}.${tagId}`;
  const names = new Set(refused.map(nameOf));
  return rows.filter((row) => !names.has(nameOf(row)));
}
