/** Finds and locks the devices of a batch: the first statement of a registration, for the next ones to see them as they are. */

import type { DeviceNote } from '../../domain/group-change.ts';
import type { Sql } from '../sql.ts';
import { list } from '../sql.ts';

export interface DeviceKey {
  readonly appId: number;
  readonly platformId: number;
  /** deviceKeyOf(deviceId) */
  readonly deviceKey: string;
}

/**
 * Answers, for the devices that exist, their place in `devices`, their ordinal and what is noted of them. Locks in the order of keys, so that two
 * nodes wait for each other and do not deadlock. What others commit while this waits is seen by the statements that
 * follow, not by this one (READ COMMITTED): hence no change in the same statement, and no look at tags before it.
 */
export const lockDevices = (tx: Sql, devices: readonly DeviceKey[]) => tx<
  ({ readonly index: number; readonly ordinal: number } & DeviceNote)[]
>`
  select (wanted.place - 1)::int as index, d.ordinal, d.refusals, d.apns_environment as environment
  from devices d
  join unnest(
    ${list(devices.map((device) => device.appId))}::int[],
    ${list(devices.map((device) => device.platformId))}::int[],
    ${list(devices.map((device) => device.deviceKey))}::uuid[]
  ) with ordinality as wanted (app_id, platform_id, device_key, place)
    on d.app_id = wanted.app_id and d.platform_id = wanted.platform_id and d.device_key = wanted.device_key
  order by d.app_id, d.platform_id, d.device_key
  for no key update of d`;
