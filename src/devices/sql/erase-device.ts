/** Erases one device that is named by its key, for its owner. */

import type { Sql } from '../../database/sql.ts';
import type { DeviceGroupChange } from '../../domain/device-group-change.ts';
import { eraseLocked, lockDevicesToErase } from '../erase-devices.ts';
import type { DeviceKey } from './find-devices.ts';
import { eraseDeviceEvents } from './list-events.ts';
import type { DeviceDetails } from './read-device.ts';
import { readDevice } from './read-device.ts';

export interface ErasedDevice {
  /** The device before. Null: there was none. */
  readonly device: DeviceDetails | null;
  /** How many events of it are gone, and whether it was a test device. */
  readonly events: number;
  readonly changes: readonly DeviceGroupChange[];
}

/** In the transaction of its caller. Events go too, also when the device is gone already. */
export async function eraseDevice(tx: Sql, key: DeviceKey): Promise<ErasedDevice> {
  const { appId, platformId, deviceKey } = key;
  // Found by its key: compaction may be giving it another ordinal.
  await tx`
    select from devices
    where device_key = ${deviceKey}::uuid and app_id = ${appId} and platform_id = ${platformId}
    for update`;
  // A transaction that erases the device too writes its events under this lock, and has ended.
  const events = (await eraseDeviceEvents(tx, key)) + (await forgetTestDevice(tx, key));
  const device = await readDevice(tx, key);
  if (device === null) return { device, events, changes: [] };
  const { ordinal } = device;
  const locked = await lockDevicesToErase(tx, [
    { appId, platformId, ordinal, registeredBeforeMs: null },
  ]);
  return { device, events, changes: await eraseLocked(tx, locked) };
}

/** Answers how many there were: its deviceId stands there although it is registered no more. */
async function forgetTestDevice(
  tx: Sql,
  { appId, platformId, deviceKey }: DeviceKey,
): Promise<number> {
  const { count } = await tx`
    delete from test_devices
    where device_key = ${deviceKey}::uuid and app_id = ${appId} and platform_id = ${platformId}`;
  return count;
}
