/** A batch as devices: every device once, with all that is asked for it. */

import type { DeviceNote } from '../domain/group-change.ts';
import type { DeviceKey } from '../store/devices/lock-devices.ts';
import type { Change } from './change.ts';
import type { DeviceRef, Operation } from './operation.ts';

/** A device of the batch and all that is asked for it. */
export interface DeviceOperations {
  readonly device: DeviceRef;
  /** In the order they came. */
  readonly operations: readonly Operation[];
}

/** What became of a device and its operations. */
export type DeviceResult = 'committed' | 'tags-limited' | 'limit';

/** A device in the transaction: what it becomes, and its ordinal once it has one. */
export interface ChangedDevice extends DeviceOperations {
  readonly change: Change;
  /** Null: it is not there, and does not become. */
  ordinal: number | null;
  /** What was noted of it before; null: it was not there. */
  note: DeviceNote | null;
  /** Its ordinal is one that it gets in this transaction. */
  isNew: boolean;
  result: DeviceResult;
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
