/** The parts of a batch's writing statement that are there for new devices. */

import type { DevicePlace, Subscription } from '../../domain/group-change.ts';
import { isSameGroup } from '../../domain/group-change.ts';
import type { Sql } from '../sql.ts';
import { list, textList } from '../sql.ts';
import type { DeviceKey } from './lock-devices.ts';
import { unnested } from './unnested.ts';

/** A device that was not there when the transaction locked those that were. Another transaction may have made it since. */
export interface NewDevice extends DeviceKey {
  readonly ordinal: number;
  readonly deviceId: string;
  readonly unsubscribes: boolean;
  readonly appVersion: string | null;
}

/**
 * Queries of a batch's writing statement, each with a comma behind it: `inserted`, and their subscriptions. Fails (`wasMadeSince`) when another
 * transaction has made one of them since they were looked for. `on conflict do nothing` would look for each in the index once more, and write its row
 * twice.
 */
export const insertDevices = (
  tx: Sql,
  inserted: readonly NewDevice[],
  first: readonly Subscription[],
) => tx`
    inserted as (
      insert into devices
        (app_id, platform_id, ordinal, device_key, device_id, app_version, registered_at, unsubscribed_at)
      select app_id, platform_id, ordinal, device_key, device_id, app_version, now(),
        case when unsubscribes = 1 then now() end
      from unnest(
        ${list(inserted.map((device) => device.appId))}::int[],
        ${list(inserted.map((device) => device.platformId))}::int[],
        ${list(inserted.map((device) => device.ordinal))}::int[],
        ${list(inserted.map((device) => device.deviceKey))}::uuid[],
        ${textList(inserted.map((device) => device.deviceId))}::text[],
        ${textList(inserted.map((device) => device.appVersion))}::text[],
        ${list(inserted.map((device) => Number(device.unsubscribes)))}::int[]
      ) as fresh (app_id, platform_id, ordinal, device_key, device_id, app_version, unsubscribes)
      order by app_id, platform_id, device_key
      returning ordinal
    ),
    first as (
      insert into subscriptions (app_id, platform_id, tag_id, ordinal)
      select app_id, platform_id, tag_id, ordinal
      from ${unnested(tx, first)} as wanted (app_id, platform_id, ordinal, tag_id)
      order by tag_id
    ),`;

/** Rows for `changed`. What tags gain by new devices is known before: a row for each tag, with the place of one of the devices. */
export function gainsOfInserted(tx: Sql, first: readonly Subscription[]) {
  const gains = new Map<number, Subscription & { gained: number }>();
  for (const subscription of first) {
    const gain = gains.get(subscription.tagId);
    if (gain === undefined) gains.set(subscription.tagId, { ...subscription, gained: 1 });
    else gain.gained += 1;
  }
  const rows = [...gains.values()];
  return tx`
      union all select *, 0 from unnest(
        ${list(rows.map((row) => row.appId))}::int[], ${list(rows.map((row) => row.platformId))}::int[],
        ${list(rows.map((row) => row.ordinal))}::int[], ${list(rows.map((row) => row.tagId))}::int[],
        ${list(rows.map((row) => row.gained))}::int[]
      ) as gains (app_id, platform_id, ordinal, tag_id, gained)
      -- Always true: devices are inserted before the days' rows are locked.
      where (select count(*) from inserted) >= 0`;
}

/** One of them for each of their groups, of which neighbours mostly have the same. */
export const oneOfEachGroup = (inserted: readonly NewDevice[]): readonly DevicePlace[] =>
  inserted.filter((device, at) => {
    const before = inserted[at - 1];
    return before === undefined || !isSameGroup(before, device);
  });
