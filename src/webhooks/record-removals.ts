/** Records why devices are gone, in the transaction that erases them. */

import { DEVICE_PLACE } from '../database/columns.ts';
import { rowsOf, text } from '../database/rows.ts';
import type { Sql } from '../database/sql.ts';
import type { DevicePlace } from '../domain/device-group-change.ts';

export interface Removal extends DevicePlace {
  /** `dead`: its provider said so. `refused`: its provider refused it again and again. */
  readonly reason: 'dead' | 'refused';
}

/** Before they are erased. `notificationId`: of the send whose answers decided. */
export const recordRemovals = (tx: Sql, notificationId: string, devices: readonly Removal[]) => tx`
  insert into device_events (device_key, app_id, platform_id, kind, notification_id, reason)
  select d.device_key, d.app_id, d.platform_id, 'removed', ${notificationId}::uuid, removed.reason
  from ${removed(tx, devices)}
  join devices d
    on d.app_id = removed.app_id and d.platform_id = removed.platform_id and d.ordinal = removed.ordinal
  order by d.device_key
  on conflict do nothing`;

const removed = rowsOf<Removal>('removed', {
  ...DEVICE_PLACE,
  reason: text(({ reason }) => reason),
});

/** Before they are erased: an installation id, or the app itself, has named another token. */
export const recordReplaced = (tx: Sql, devices: readonly DevicePlace[]) => tx`
  insert into device_events (device_key, app_id, platform_id, kind, notification_id, reason)
  select d.device_key, d.app_id, d.platform_id, 'replaced', null, 'replaced'
  from ${replaced(tx, devices)}
  join devices d
    on d.app_id = replaced.app_id and d.platform_id = replaced.platform_id and d.ordinal = replaced.ordinal
  order by d.device_key
  on conflict (device_key, app_id, platform_id, kind, notification_id) do update set at = excluded.at`;

const replaced = rowsOf<DevicePlace>('replaced', DEVICE_PLACE);
