/** Removes every subscription of devices that are about to be erased, and counts them as lost. */

import type { DevicePlace } from '../../domain/group-change.ts';
import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';
import { ERASING_SLOT } from '../tag-days/slots.ts';

/** The devices are locked by the transaction. Answers what was removed; the caller raises their groups. */
export const removeSubscriptions = (tx: Sql, devices: readonly DevicePlace[]) => tx<
  (DevicePlace & { readonly tagId: number })[]
>`
  with removed as (
    delete from subscriptions s
    using unnest(
      ${list(devices.map((device) => device.appId))}::int[],
      ${list(devices.map((device) => device.platformId))}::int[],
      ${list(devices.map((device) => device.ordinal))}::int[]
    ) as erased (app_id, platform_id, ordinal)
    where s.app_id = erased.app_id and s.platform_id = erased.platform_id and s.ordinal = erased.ordinal
    returning s.app_id, s.platform_id, s.ordinal, s.tag_id
  ),
  days as (
    insert into tag_days (tag_id, day, slot, unsubscribed)
    select tag_id, (now() at time zone 'utc')::date, ${ERASING_SLOT}::smallint, count(*)
    from removed
    group by tag_id
    order by tag_id
    on conflict (tag_id, day, slot) do update set unsubscribed = tag_days.unsubscribed + excluded.unsubscribed
  )
  select app_id as "appId", platform_id as "platformId", ordinal, tag_id as "tagId" from removed`;
