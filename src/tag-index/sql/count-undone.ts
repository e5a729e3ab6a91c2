/** Counts a group's devices that match in blocks that are not done, without their tokens. */

import type { Sql } from '../../database/sql.ts';
import { isNobody } from '../../domain/audience.ts';
import { BLOCK_DEVICES, GROUP_DEVICES } from '../../domain/device.ts';
import type { DeviceGroupKey } from '../../domain/device-group-change.ts';
import type { Audience } from '../../domain/notification.ts';
import { isIn, isNotIn, matches } from './matching.ts';

/** `ordinalEnd`: later ordinals are not meant. `doneBlocks`: 64 bits as a signed number. */
interface UndoneRequest extends DeviceGroupKey {
  readonly ordinalEnd: number;
  readonly doneBlocks: string;
}

/** Counts them as of now. `leftOut`, `named`: see ResolveRequest. */
export async function countUndone(
  sql: Sql,
  { appId, platformId, groupNumber, ordinalEnd, doneBlocks }: UndoneRequest,
  audience: Audience,
  leftOut?: Uint8Array,
  named?: Uint8Array,
): Promise<number> {
  const start = groupNumber * GROUP_DEVICES;
  const end = Math.min(start + GROUP_DEVICES, ordinalEnd);
  if (isNobody(audience) || end <= start) return 0;
  const [row] = await sql<{ devices: number }[]>`
    select count(*) as devices from devices
    where app_id = ${appId} and platform_id = ${platformId} and ordinal >= ${start} and ordinal < ${end}
      and (${doneBlocks}::text::bigint >> ((ordinal - ${start}::integer) / ${BLOCK_DEVICES}::integer)) & 1 = 0
      and ${matches(sql, audience)} ${isNotIn(sql, leftOut, start)} ${isIn(sql, named, start)}`;
  return row?.devices ?? 0;
}
