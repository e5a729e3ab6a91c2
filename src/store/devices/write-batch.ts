/** Everything that a batch of registrations writes, in one statement: devices, subscriptions, tag days, groups. */

import type {
  DeviceNote,
  DevicePlace,
  RaisedGroup,
  Subscription,
} from '../../domain/group-change.ts';
import type { Sql } from '../sql.ts';
import { list, textList } from '../sql.ts';
import { countChanges } from '../tag-days/count-changes.ts';
import type { NewDevice } from './insert-devices.ts';
import { gainsOfInserted, insertDevices, oneOfEachGroup } from './insert-devices.ts';
import { unnested } from './unnested.ts';

/** A device that the transaction has locked, and that registered or unsubscribed. */
export interface DeviceUpdate extends DevicePlace {
  readonly registers: boolean;
  readonly unsubscribes: boolean;
  /** Null keeps what is known. */
  readonly appVersion: string | null;
}

export interface Batch {
  readonly updated: readonly DeviceUpdate[];
  readonly inserted: readonly NewDevice[];
  /** Subscriptions of devices in `inserted`. */
  readonly first: readonly Subscription[];
  /** Subscriptions that locked devices are to have. */
  readonly added: readonly Subscription[];
  /** Of other (device, tag) pairs than `added`. */
  readonly removed: readonly Subscription[];
  /** Locked devices that lose every tag that `added` does not give them. */
  readonly cleared: readonly DevicePlace[];
  /** Locked devices whose refusals `updated` forgets, and what is noted of them then. */
  readonly forgiven: readonly (DevicePlace & { readonly note: DeviceNote })[];
  /** Of tag_days: the lane's number. */
  readonly slot: number;
}

export interface Written {
  /** The groups in which something changed, with the versions that this transaction gave them. */
  readonly groups: readonly RaisedGroup[];
  /** What `cleared` took away. */
  readonly lost: readonly Subscription[];
}

/** `kind` says which of the two it is; `place` is a group's number or an ordinal, `value` a version or a tag. */
interface Row {
  readonly kind: 'group' | 'lost';
  readonly appId: number;
  readonly platformId: number;
  readonly place: number;
  readonly value: number;
}

/**
 * Fails (`wasMadeSince`) when another transaction has made one of `inserted` since: in a new one it is there, and can be locked.
 *
 * Locks in the order of all writers: devices (new ones here, sorted, after the known ones), tag days, groups, each sorted.
 * What a batch has none of is left out: PostgreSQL prepares each part for execution, and that is most of a small batch.
 * Subscriptions are inserted by tag, as their index has them: neighbours there are found in pages that were just used.
 */
export async function writeBatch(tx: Sql, batch: Batch): Promise<Written> {
  const { updated, inserted, removed, cleared, forgiven } = batch;
  const nothing = tx``;
  const rows = await tx<Row[]>`
    with wanted as materialized (
      select * from ${unnested(tx, batch.added)} as wanted (app_id, platform_id, ordinal, tag_id)
    ),
    added as (
      insert into subscriptions (app_id, platform_id, tag_id, ordinal)
      select app_id, platform_id, tag_id, ordinal from wanted
      order by tag_id
      on conflict do nothing
      returning app_id, platform_id, ordinal, tag_id
    ),
    ${updated.length > 0 ? updateDevices(tx, updated) : nothing}
    ${inserted.length > 0 ? insertDevices(tx, inserted, batch.first) : nothing}
    ${removed.length > 0 ? removeSubscriptions(tx, removed) : nothing}
    ${cleared.length > 0 ? clearSubscriptions(tx, cleared) : nothing}
    changed as (
      select *, 1 as gained, 0 as lost from added
      ${inserted.length > 0 ? gainsOfInserted(tx, batch.first) : nothing}
      ${removed.length > 0 ? tx`union all select *, 0, 1 from removed` : nothing}
      ${cleared.length > 0 ? tx`union all select *, 0, 1 from cleared` : nothing}
    ),
    days as (${countChanges(tx, batch.slot)}),
    raised as (
      insert into device_groups (app_id, platform_id, group_number, version)
      select distinct app_id, platform_id, ordinal / 8192, 1
      from (
        select app_id, platform_id, ordinal from changed
        ${inserted.length > 0 ? touchedPlaces(tx, oneOfEachGroup(inserted)) : nothing}
        ${forgiven.length > 0 ? touchedPlaces(tx, forgiven) : nothing}
      ) as touched
      -- Always true: the days' rows are locked before the groups'.
      where (select count(*) from days) >= 0
      order by 1, 2, 3
      on conflict (app_id, platform_id, group_number) do update set version = device_groups.version + 1
      returning app_id, platform_id, group_number, version
    )
    select 'group' as kind, app_id as "appId", platform_id as "platformId", group_number as place, version as value
    from raised
    ${cleared.length > 0 ? tx`union all select 'lost', app_id, platform_id, ordinal, tag_id from cleared` : nothing}`;
  return sort(rows);
}

/** Flags travel as 0 and 1: the driver takes an array of booleans for one boolean. */
const updateDevices = (tx: Sql, updated: readonly DeviceUpdate[]) => tx`
    updated as (
      update devices d set
        registered_at = case when seen.registers = 1 then now() else d.registered_at end,
        -- A token that its app still has is no stranger.
        refusals = case when seen.registers = 1 then 0 else d.refusals end,
        refused_at = case when seen.registers = 1 then null else d.refused_at end,
        unsubscribed_at = case when seen.unsubscribes = 1 then now() else d.unsubscribed_at end,
        app_version = coalesce(seen.app_version, d.app_version)
      from unnest(
        ${list(updated.map((device) => device.appId))}::int[],
        ${list(updated.map((device) => device.platformId))}::int[],
        ${list(updated.map((device) => device.ordinal))}::int[],
        ${list(updated.map((device) => Number(device.registers)))}::int[],
        ${list(updated.map((device) => Number(device.unsubscribes)))}::int[],
        ${textList(updated.map((device) => device.appVersion))}::text[]
      ) as seen (app_id, platform_id, ordinal, registers, unsubscribes, app_version)
      where d.app_id = seen.app_id and d.platform_id = seen.platform_id and d.ordinal = seen.ordinal
    ),`;

const removeSubscriptions = (tx: Sql, removed: readonly Subscription[]) => tx`
    removed as (
      delete from subscriptions s
      using ${unnested(tx, removed)} as unwanted (app_id, platform_id, ordinal, tag_id)
      where s.app_id = unwanted.app_id and s.platform_id = unwanted.platform_id
        and s.ordinal = unwanted.ordinal and s.tag_id = unwanted.tag_id
      returning s.app_id, s.platform_id, s.ordinal, s.tag_id
    ),`;

/** `not in` is looked up in a hash, whatever the plan; a join of two arrays would be a loop in a loop. */
const clearSubscriptions = (tx: Sql, cleared: readonly DevicePlace[]) => tx`
    cleared as (
      delete from subscriptions s
      using unnest(
        ${list(cleared.map((device) => device.appId))}::int[],
        ${list(cleared.map((device) => device.platformId))}::int[],
        ${list(cleared.map((device) => device.ordinal))}::int[]
      ) as emptied (app_id, platform_id, ordinal)
      where s.app_id = emptied.app_id and s.platform_id = emptied.platform_id and s.ordinal = emptied.ordinal
        and (s.app_id, s.platform_id, s.ordinal, s.tag_id) not in (select app_id, platform_id, ordinal, tag_id from wanted)
      returning s.app_id, s.platform_id, s.ordinal, s.tag_id
    ),`;

const touchedPlaces = (tx: Sql, places: readonly DevicePlace[]) => tx`
        union all select * from unnest(
          ${list(places.map((place) => place.appId))}::int[],
          ${list(places.map((place) => place.platformId))}::int[],
          ${list(places.map((place) => place.ordinal))}::int[]
        ) as places (app_id, platform_id, ordinal)`;

function sort(rows: readonly Row[]): Written {
  const groups: RaisedGroup[] = [];
  const lost: Subscription[] = [];
  for (const { kind, appId, platformId, place, value } of rows) {
    switch (kind) {
      case 'group':
        groups.push({ appId, platformId, groupNumber: place, version: value });
        break;
      case 'lost':
        lost.push({ appId, platformId, ordinal: place, tagId: value });
        break;
    }
  }
  return { groups, lost };
}
