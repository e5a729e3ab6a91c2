/** Reads all that a tag index holds of a group, as of one moment and one version. */

import type { Sql } from '../../database/sql.ts';
import type { ApnsEnvironment } from '../../domain/device.ts';
import { GROUP_DEVICES } from '../../domain/device.ts';
import type { DeviceGroupKey, DeviceHistory } from '../../domain/device-group-change.ts';

export interface DeviceGroupContent {
  /** 0: nothing ever changed in it. */
  readonly version: number;
  /** Parallel, in rising order of the offsets. */
  readonly offsets: readonly number[];
  readonly deviceIds: readonly string[];
  readonly histories: readonly (readonly [offset: number, DeviceHistory])[];
  /** Offsets by tags and facets, as sorted big-endian 16-bit numbers. */
  readonly tags: readonly (readonly [id: number, offsets: Buffer])[];
}

interface Row {
  readonly version: number;
  readonly offsets: readonly number[] | null;
  readonly deviceIds: readonly string[] | null;
  readonly histories: readonly (readonly [number, number, ApnsEnvironment | null])[] | null;
  readonly tags: readonly (readonly [number, string])[] | null;
}

/** One statement, so one snapshot. The database builds the lists: the driver would parse rows. */
export async function readDeviceGroup(
  sql: Sql,
  { appId, platformId, groupNumber }: DeviceGroupKey,
): Promise<DeviceGroupContent> {
  const start = groupNumber * GROUP_DEVICES;
  const end = start + GROUP_DEVICES;
  const [row] = await sql<Row[]>`
    select
      coalesce((
        select version from device_groups
        where app_id = ${appId} and platform_id = ${platformId} and group_number = ${groupNumber}
      ), 0) as version,
      devices.offsets, devices."deviceIds", devices.histories, tags.tags
    from (
      select json_agg(ordinal - ${start}::integer order by ordinal) as offsets,
        json_agg(device_id order by ordinal) as "deviceIds",
        json_agg(json_build_array(ordinal - ${start}::integer, refusals, apns_environment) order by ordinal)
          filter (where refusals > 0 or apns_environment is not null) as histories
      from devices
      where app_id = ${appId} and platform_id = ${platformId} and ordinal >= ${start} and ordinal < ${end}
    ) devices
    cross join (
      select json_agg(json_build_array(tag_id, encode(offsets, 'base64'))) as tags
      from (
        select tag_id, string_agg(int2send((ordinal - ${start}::integer)::smallint), ''::bytea order by ordinal) as offsets
        from devices cross join lateral unnest(tag_ids || facet_ids) as tag_id
        where app_id = ${appId} and platform_id = ${platformId} and ordinal >= ${start} and ordinal < ${end}
        group by tag_id
      ) by_tag
    ) tags`;
  return {
    version: row?.version ?? 0,
    offsets: row?.offsets ?? [],
    deviceIds: row?.deviceIds ?? [],
    histories: (row?.histories ?? []).map(([offset, refusals, environment]) => [
      offset,
      { refusals, environment },
    ]),
    tags: (row?.tags ?? []).map(([tagId, offsets]) => [tagId, Buffer.from(offsets, 'base64')]),
  };
}
