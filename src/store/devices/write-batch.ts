/**
 * Writes all rows of a batch of registrations in one statement: devices, tag days, groups and their
 * tags.
 */

import type { DevicePlace } from '../../domain/group-change.ts';
import type { Sql } from '../sql.ts';
import { list, textList } from '../sql.ts';
import type { DeviceKey } from './find-devices.ts';
import type { RaisedWithEpoch, TagChange, TouchedGroup } from './record-changes.ts';
import { countsOf, RAISED, recording } from './record-changes.ts';
import { writeTagIds } from './tag-ids.ts';

/** A device that the transaction has locked, and that changes. */
export interface DeviceUpdate extends DevicePlace {
  readonly registers: boolean;
  readonly unsubscribes: boolean;
  /** Null keeps the known one. */
  readonly appVersion: string | null;
  /** Sorted; null: they stay. */
  readonly tagIds: readonly number[] | null;
}

/**
 * A device that did not exist when the batch looked for it. Another transaction may have made it
 * since.
 */
export interface NewDevice extends DeviceKey {
  readonly ordinal: number;
  readonly deviceId: string;
  readonly unsubscribes: boolean;
  readonly appVersion: string | null;
  /** Sorted. */
  readonly tagIds: readonly number[];
}

export interface Batch {
  readonly updated: readonly DeviceUpdate[];
  readonly inserted: readonly NewDevice[];
  /** The tags that these devices gain and lose. */
  readonly changes: readonly TagChange[];
  /** Groups with changes that an index holds. */
  readonly groups: readonly TouchedGroup[];
  /** Slot of tag_days: the number of the lane. */
  readonly slot: number;
}

/**
 * Answers the groups with the versions that this transaction gives them. Fails (`wasMadeSince`)
 * when another transaction has made one of `inserted` since: a new transaction finds it, and can
 * lock it.
 *
 * Locks in the order of all writers: devices (new ones here, sorted, after the known ones), tag
 * days, groups, each sorted. Empty parts of a batch are left out: PostgreSQL prepares each part for
 * execution, and that is most of the cost of a small batch.
 */
export async function writeBatch(tx: Sql, batch: Batch): Promise<readonly RaisedWithEpoch[]> {
  const { updated, inserted, changes, groups, slot } = batch;
  const nothing = tx``;
  // Always true: devices are inserted before the days' rows are locked.
  const after = inserted.length > 0 ? tx`where (select count(*) from inserted) >= 0` : nothing;
  return await tx<RaisedWithEpoch[]>`
    with ${updated.length > 0 ? updateDevices(tx, updated) : nothing}
    ${inserted.length > 0 ? insertDevices(tx, inserted) : nothing}
    ${recording(tx, countsOf(changes), groups, slot, after)}
    ${RAISED(tx)}`;
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
        app_version = coalesce(seen.app_version, d.app_version),
        tag_ids = coalesce(seen.tag_ids::int[], d.tag_ids)
      from unnest(
        ${list(updated.map((device) => device.appId))}::int[],
        ${list(updated.map((device) => device.platformId))}::int[],
        ${list(updated.map((device) => device.ordinal))}::int[],
        ${list(updated.map((device) => Number(device.registers)))}::int[],
        ${list(updated.map((device) => Number(device.unsubscribes)))}::int[],
        ${textList(updated.map((device) => device.appVersion))}::text[],
        ${textList(updated.map(({ tagIds }) => (tagIds === null ? null : writeTagIds(tagIds))))}::text[]
      ) as seen (app_id, platform_id, ordinal, registers, unsubscribes, app_version, tag_ids)
      where d.app_id = seen.app_id and d.platform_id = seen.platform_id and d.ordinal = seen.ordinal
    ),`;

/**
 * Without `on conflict do nothing`, which would look each device up in the index once more, and
 * write its row twice.
 */
const insertDevices = (tx: Sql, inserted: readonly NewDevice[]) => tx`
    inserted as (
      insert into devices
        (app_id, platform_id, ordinal, device_key, device_id, app_version, registered_at, unsubscribed_at, tag_ids)
      select app_id, platform_id, ordinal, device_key, device_id, app_version, now(),
        case when unsubscribes = 1 then now() end, tag_ids::int[]
      from unnest(
        ${list(inserted.map((device) => device.appId))}::int[],
        ${list(inserted.map((device) => device.platformId))}::int[],
        ${list(inserted.map((device) => device.ordinal))}::int[],
        ${list(inserted.map((device) => device.deviceKey))}::uuid[],
        ${textList(inserted.map((device) => device.deviceId))}::text[],
        ${textList(inserted.map((device) => device.appVersion))}::text[],
        ${list(inserted.map((device) => Number(device.unsubscribes)))}::int[],
        ${textList(inserted.map((device) => writeTagIds(device.tagIds)))}::text[]
      ) as fresh (app_id, platform_id, ordinal, device_key, device_id, app_version, unsubscribes, tag_ids)
      order by app_id, platform_id, device_key
      returning ordinal
    ),`;
