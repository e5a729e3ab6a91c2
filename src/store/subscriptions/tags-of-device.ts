/** Which tags a device is subscribed to. */

import type { DeviceKey } from '../devices/lock-devices.ts';
import type { Sql } from '../sql.ts';

export interface TagOfDevice {
  readonly id: number;
  readonly name: string;
  readonly sourceId: string | null;
  readonly optionalParameters: Readonly<Record<string, string>> | null;
}

/** By id; without deleted, expired and disconnected tags. An unknown device has none. */
export const tagsOfDevice = (sql: Sql, { appId, platformId, deviceKey }: DeviceKey) => sql<
  TagOfDevice[]
>`
  select t.id, t.name, t.source_id as "sourceId", t.optional_parameters as "optionalParameters"
  from devices d
  join subscriptions s on s.app_id = d.app_id and s.platform_id = d.platform_id and s.ordinal = d.ordinal
  join tags t on t.id = s.tag_id
  where d.app_id = ${appId} and d.platform_id = ${platformId} and d.device_key = ${deviceKey}::uuid
    and t.deleted_at is null
    and (t.app_ids is null or d.app_id = any (t.app_ids))
    and (t.expires_at_ms is null or t.expires_at_ms > extract(epoch from now()) * 1000)
  order by t.id`;
