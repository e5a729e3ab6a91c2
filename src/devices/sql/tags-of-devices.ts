/** Reads the tags that devices are subscribed to. */

import type { Sql } from '../../database/sql.ts';
import type { DeviceKey } from './find-devices.ts';
import { wantedDevices } from './find-devices.ts';

export interface TagOfDevice {
  readonly id: number;
  readonly name: string;
  readonly sourceId: string | null;
  readonly optionalParameters: Readonly<Record<string, string>> | null;
}

/**
 * Answers one row for each tag of each device, with the place of the device in `devices`; by place,
 * then by tag id. Leaves out deleted, expired and disconnected tags. An unknown device has none.
 */
export const tagsOfDevices = (sql: Sql, devices: readonly DeviceKey[]) => sql<
  (TagOfDevice & { readonly index: number })[]
>`
  select wanted.index, t.id, t.name, t.source_id as "sourceId",
    t.optional_parameters as "optionalParameters"
  from ${wantedDevices(sql, devices)}
  join devices d
    on d.app_id = wanted.app_id and d.platform_id = wanted.platform_id and d.device_key = wanted.device_key
  join tags t on t.id = any (d.tag_ids)
  where t.deleted_at is null
    and (t.app_ids is null or d.app_id = any (t.app_ids))
    and (t.expires_at_ms is null or t.expires_at_ms > extract(epoch from now()) * 1000)
  order by wanted.index, t.id`;
