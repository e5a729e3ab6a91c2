/** The statements of a token's replacement: both devices locked, then one row changed in place, or one merged into the other. */

import type { ApnsEnvironment } from '../../domain/credential.ts';
import type { DevicePlace } from '../../domain/group-change.ts';
import type { Sql } from '../sql.ts';
import { REPLACING_SLOT } from '../tag-days/slots.ts';
import type { DeviceKey } from './lock-devices.ts';

export interface LockedPair {
  /** Null: there is no such device. */
  readonly oldOrdinal: number | null;
  readonly newOrdinal: number | null;
}

/** Locks what there is of the two, in the order of keys as registrations do. */
export async function lockPair(
  tx: Sql,
  { appId, platformId, deviceKey }: DeviceKey,
  newKey: string,
): Promise<LockedPair> {
  const rows = await tx<{ ordinal: number; isOld: boolean }[]>`
    select ordinal, device_key = ${deviceKey}::uuid as "isOld"
    from devices
    where app_id = ${appId} and platform_id = ${platformId}
      and device_key in (${deviceKey}::uuid, ${newKey}::uuid)
    order by app_id, platform_id, device_key
    for update`;
  return {
    oldOrdinal: rows.find(({ isOld }) => isOld)?.ordinal ?? null,
    newOrdinal: rows.find(({ isOld }) => !isOld)?.ordinal ?? null,
  };
}

/**
 * Gives a device another deviceId. What providers said of the one before says nothing of it. Fails by the unique key when the
 * new one has been registered since both were looked for.
 */
export const moveDevice = (
  tx: Sql,
  { appId, platformId, ordinal }: DevicePlace,
  to: { readonly deviceKey: string; readonly deviceId: string; readonly appVersion: string | null },
) => tx`
  update devices set
    device_key = ${to.deviceKey}::uuid,
    device_id = ${to.deviceId},
    app_version = coalesce(${to.appVersion}, app_version),
    registered_at = now(),
    refusals = 0,
    refused_at = null,
    apns_environment = null
  where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}`;

/** Notes on the device that stays that its app has just named it; answers the environment that it is known to be in. */
export async function touchMerged(
  tx: Sql,
  { appId, platformId, ordinal }: DevicePlace,
  oldOrdinal: number,
  appVersion: string | null,
): Promise<ApnsEnvironment | null> {
  const [touched] = await tx<{ environment: ApnsEnvironment | null }[]>`
    update devices d set
      registered_at = now(),
      refusals = 0,
      refused_at = null,
      app_version = coalesce(${appVersion}, d.app_version, o.app_version)
    from devices o
    where d.app_id = ${appId} and d.platform_id = ${platformId} and d.ordinal = ${ordinal}
      and o.app_id = d.app_id and o.platform_id = d.platform_id and o.ordinal = ${oldOrdinal}
    returning d.apns_environment as environment`;
  return touched?.environment ?? null;
}

export interface MovedTag {
  readonly tagId: number;
  /** The other device has it now, and had it not before. */
  readonly isGained: boolean;
  /** The other device would have had it, but for its limit. */
  readonly isLost: boolean;
}

/**
 * Moves all subscriptions of one device to another, which has `tagsMax` at most afterwards; answers those that the first one
 * had. Subscriptions to deleted tags go, for their tag may be purged by now. Only what becomes less counts as unsubscribed.
 */
export const moveSubscriptions = (
  tx: Sql,
  { appId, platformId, ordinal }: DevicePlace,
  toOrdinal: number,
  tagsMax: number,
) => tx<MovedTag[]>`
  with taken as (
    delete from subscriptions
    where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}
    returning tag_id
  ),
  had as (
    select tag_id from subscriptions
    where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${toOrdinal}
  ),
  wanted as (
    select t.id as tag_id from taken join tags t on t.id = taken.tag_id
    where t.deleted_at is null and t.id not in (select tag_id from had)
  ),
  gained as (
    insert into subscriptions (app_id, platform_id, tag_id, ordinal)
    select ${appId}::int, ${platformId}::int, tag_id, ${toOrdinal}::int
    from wanted
    order by tag_id
    limit greatest(0, ${tagsMax}::int - (select count(*) from had))
    returning tag_id
  ),
  days as (
    insert into tag_days (tag_id, day, slot, unsubscribed)
    select tag_id, (now() at time zone 'utc')::date, ${REPLACING_SLOT}::smallint, 1
    from taken where tag_id not in (select tag_id from gained)
    order by tag_id
    on conflict (tag_id, day, slot) do update set unsubscribed = tag_days.unsubscribed + excluded.unsubscribed
  )
  select tag_id as "tagId",
    tag_id in (select tag_id from gained) as "isGained",
    tag_id in (select tag_id from wanted) and tag_id not in (select tag_id from gained) as "isLost"
  from taken order by 1`;
