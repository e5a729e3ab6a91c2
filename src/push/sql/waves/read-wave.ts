/** Reads whom a wave is for, and what is under way of its job beside its chunks. */

import type { Sql } from '../../../database/sql.ts';
import { firstOrdinalOf, lastOrdinalOf } from '../../../domain/device.ts';
import type { DeviceGroupKey } from '../../../domain/device-group-change.ts';
import type { WaveDevices } from '../../../domain/wave-audience.ts';

export async function readWave(
  sql: Sql,
  notificationId: string,
  atMs: number,
): Promise<WaveDevices> {
  const [wave] = await sql<WaveDevices[]>`
    select zones, has_others as "hasOthers" from push_waves
    where notification_id = ${notificationId}::uuid and at = to_timestamp(${atMs}::float8 / 1000)`;
  if (wave === undefined) throw new Error(`the wave of ${notificationId} at ${atMs} is gone`);
  return wave;
}

/** The ordinals of a group whose devices the job tries again: an earlier wave was for them. */
export async function retriedIn(
  sql: Sql,
  notificationId: string,
  { appId, platformId, groupNumber }: DeviceGroupKey,
): Promise<readonly number[]> {
  const rows = await sql<{ ordinal: number }[]>`
    select ordinal from retries
    where notification_id = ${notificationId}::uuid and app_id = ${appId} and platform_id = ${platformId}
      and ordinal between ${firstOrdinalOf(groupNumber)} and ${lastOrdinalOf(groupNumber)}`;
  return rows.map(({ ordinal }) => ordinal);
}
