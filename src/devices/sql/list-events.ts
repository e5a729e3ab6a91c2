/** Lists the events of one device, newest first, and erases them, for the owner of the device. */

import type { Sql } from '../../database/sql.ts';
import type { DeviceKey } from './find-devices.ts';

export const DEVICE_EVENT_KINDS = ['failed', 'removed', 'replaced'] as const;

export interface DeviceEvent {
  readonly kind: (typeof DEVICE_EVENT_KINDS)[number];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The send that it came from; null: none. */
  readonly notificationId: string | null;
  /** The provider's answer to a failed send. */
  readonly reason: string;
}

/** `first`: a send whose events are taken before newer ones. */
export const listDeviceEvents = (
  sql: Sql,
  { appId, platformId, deviceKey }: DeviceKey,
  limit: number,
  first: string | null = null,
): Promise<readonly DeviceEvent[]> =>
  sql<DeviceEvent[]>`
    select kind, notification_id as "notificationId", reason,
      floor(extract(epoch from at) * 1000)::float8 as "at"
    from device_events
    where device_key = ${deviceKey}::uuid and app_id = ${appId} and platform_id = ${platformId}
    order by coalesce(notification_id = ${first}::uuid, false) desc, device_events.at desc, kind
    limit ${limit}`;

export async function eraseDeviceEvents(
  sql: Sql,
  { appId, platformId, deviceKey }: DeviceKey,
): Promise<number> {
  const deleted = await sql`
    delete from device_events
    where device_key = ${deviceKey}::uuid and app_id = ${appId} and platform_id = ${platformId}`;
  return deleted.count;
}
