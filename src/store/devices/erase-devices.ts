/** Erases devices with everything that hangs on them: for dead tokens, retention and the right to be forgotten. */

import type { DevicePlace, Edits, GroupChange, GroupKey } from '../../domain/group-change.ts';
import { changesOf } from '../../domain/group-change.ts';
import type { Sql, SqlPool } from '../sql.ts';
import { list } from '../sql.ts';
import { removeSubscriptions } from '../subscriptions/remove-subscriptions.ts';
import { transact } from '../transact.ts';
import { raiseGroups } from './raise-groups.ts';

export interface DeviceToErase extends DevicePlace {
  /** Only if it was last registered before this time; null: whenever it was. */
  readonly registeredBeforeMs: number | null;
}

export interface Erased {
  readonly count: number;
  readonly changes: readonly GroupChange[];
}

/**
 * Erases the devices that still meet their condition, in one transaction. The condition is checked on the locked row: a
 * device that registered again in the meantime stays. Their ordinals are never given out again.
 */
export function eraseDevices(sql: SqlPool, devices: readonly DeviceToErase[]): Promise<Erased> {
  if (devices.length === 0) return Promise.resolve({ count: 0, changes: [] });
  return transact(sql, async (tx) => {
    const locked = once(await lockDevicesToErase(tx, devices));
    const edits = await eraseLocked(tx, locked);
    return { count: locked.length, changes: changesOf(await raiseGroups(tx, locked), edits) };
  });
}

export interface LockedDevice extends DevicePlace, GroupKey {}

/** Erases devices that the transaction has locked. The caller raises their groups. */
export async function eraseLocked(tx: Sql, devices: readonly LockedDevice[]): Promise<Edits> {
  if (devices.length === 0) return {};
  const removed = await removeSubscriptions(tx, devices);
  await deleteDevices(tx, devices);
  return { tokens: devices.map((device) => ({ ...device, deviceId: null })), removed };
}

/** In the order of keys, as registrations lock them. */
export const lockDevicesToErase = (tx: Sql, devices: readonly DeviceToErase[]) => tx<
  LockedDevice[]
>`
  select d.app_id as "appId", d.platform_id as "platformId", d.ordinal, d.ordinal / 8192 as "groupNumber"
  from devices d
  join unnest(
    ${list(devices.map((device) => device.appId))}::int[],
    ${list(devices.map((device) => device.platformId))}::int[],
    ${list(devices.map((device) => device.ordinal))}::int[],
    ${devices.map((device) => device.registeredBeforeMs)}::float8[]
  ) as dead (app_id, platform_id, ordinal, registered_before_ms)
    on d.app_id = dead.app_id and d.platform_id = dead.platform_id and d.ordinal = dead.ordinal
  where dead.registered_before_ms is null
     or d.registered_at < to_timestamp(dead.registered_before_ms / 1000)
  order by d.app_id, d.platform_id, d.device_key
  for update of d`;

/** Each device once, however often it was named. */
export const once = (devices: readonly LockedDevice[]): readonly LockedDevice[] => [
  ...new Map(
    devices.map((device) => [`${device.appId}.${device.platformId}.${device.ordinal}`, device]),
  ).values(),
];

/** Of devices that the transaction has locked and that have no subscriptions any more. */
export const deleteDevices = (tx: Sql, devices: readonly DevicePlace[]) => tx`
  delete from devices d
  using unnest(
    ${list(devices.map((device) => device.appId))}::int[],
    ${list(devices.map((device) => device.platformId))}::int[],
    ${list(devices.map((device) => device.ordinal))}::int[]
  ) as dead (app_id, platform_id, ordinal)
  where d.app_id = dead.app_id and d.platform_id = dead.platform_id and d.ordinal = dead.ordinal`;
