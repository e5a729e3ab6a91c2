/** A request of an app for one device, with its parameters read and its tags resolved to ids. */

import { deviceKeyOf, normalizeDeviceId } from '../domain/device.ts';
import type { DeviceAttributes } from '../domain/device-attributes.ts';
import type { WantedFacets } from './facets.ts';
import type { WantedNumbers } from './numbers.ts';
import type { DeviceKey } from './sql/find-devices.ts';

export interface DeviceRef extends DeviceKey {
  readonly deviceId: string;
}

/** Names a device in the form in which it is stored and found. */
export function deviceRef(appId: number, platformId: number, deviceId: string): DeviceRef {
  const normalized = normalizeDeviceId(platformId, deviceId);
  return { appId, platformId, deviceId: normalized, deviceKey: deviceKeyOf(normalized) };
}

export type Operation =
  | {
      readonly kind: 'reg' | 'set';
      readonly device: DeviceRef;
      /** Tags of the client. The batch reads which of them the device can subscribe to. */
      readonly tagIds: readonly number[];
      readonly attributes: DeviceAttributes;
      /** Absent: it says nothing of them. */
      readonly facets?: WantedFacets;
      readonly numbers?: WantedNumbers;
    }
  | {
      readonly kind: 'ureg';
      readonly device: DeviceRef;
      readonly tagIds: readonly number[] | 'all';
    };

/** The result of a submitted operation. */
export type RegistrationResult =
  /** Durable. */
  | 'committed'
  /** Durable, but the device has TAGS_PER_DEVICE_MAX tags, so that some were ignored. */
  | 'tags-limited'
  /** Nothing was done: the app has DEVICES_PER_APP_MAX devices, and this is a new one. */
  | 'limit'
  /** Nothing was done: the database refuses this very row. */
  | 'refused'
  /** Nothing was done: too many operations wait already. */
  | 'overloaded'
  /** Not known to be durable: the database cannot be reached, or is too slow. */
  | 'unavailable';
