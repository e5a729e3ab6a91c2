/** Groups a batch by device: each device once, with all of its operations. */

import type { DeviceKey, KnownDevice } from '../store/devices/find-devices.ts';
import type { Change, TagsAfter } from './change.ts';
import type { DeviceRef, Operation } from './operation.ts';

/** A device of the batch and all of its operations. */
export interface DeviceOperations {
  readonly device: DeviceRef;
  /** In the order they came. */
  readonly operations: readonly Operation[];
}

/** The result of a device and its operations. */
export type DeviceResult = 'committed' | 'tags-limited' | 'limit';

/** A device of the batch as it is, with its change. */
export interface ChangedDevice extends DeviceOperations {
  readonly change: Change;
  readonly tags: TagsAfter;
  /** Null: it does not exist. */
  readonly known: KnownDevice | null;
}

/** A device that is written, under its present or new ordinal. */
export interface WrittenDevice extends ChangedDevice {
  readonly ordinal: number;
}

/** Gathers operations by device. */
export function byDevice(operations: readonly Operation[]): readonly DeviceOperations[] {
  const devices = new Map<string, DeviceOperations & { readonly operations: Operation[] }>();
  for (const operation of operations) {
    const key = keyOf(operation.device);
    const known = devices.get(key);
    if (known === undefined) {
      devices.set(key, { device: operation.device, operations: [operation] });
    } else {
      known.operations.push(operation);
    }
  }
  return [...devices.values()];
}

/** A device's key over all apps and platforms. */
export const keyOf = ({ appId, platformId, deviceKey }: DeviceKey): string =>
  `${appId}.${platformId}.${deviceKey}`;
