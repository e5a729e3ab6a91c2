/** Groups a batch by device: each device once, with all of its operations. */

import type { Change, TagsAfter } from './change.ts';
import type { FacetsAfter } from './facets.ts';
import type { NumbersAfter } from './numbers.ts';
import type { DeviceRef, Operation } from './operation.ts';
import type { DeviceKey, KnownDevice } from './sql/find-devices.ts';

export interface DeviceOperations {
  readonly device: DeviceRef;
  readonly operations: readonly Operation[];
}

export type DeviceResult = 'committed' | 'tags-limited' | 'limit';

export interface ChangedDevice extends DeviceOperations {
  /** When it was read, by `performance.now()`. */
  readonly readAtMs: number;
  readonly change: Change;
  readonly tags: TagsAfter;
  readonly facets: FacetsAfter;
  readonly numbers: NumbersAfter;
  /** Null: it does not exist. */
  readonly known: KnownDevice | null;
}

export interface WrittenDevice extends ChangedDevice {
  readonly ordinal: number;
}

interface ByDevice {
  /** Each device once. */
  readonly devices: readonly DeviceOperations[];
  readonly deviceOf: readonly number[];
}

interface Gathered extends DeviceOperations {
  readonly operations: Operation[];
  readonly index: number;
  /** Another device of the batch with the same key: its token is registered in several apps. */
  readonly other: Gathered | undefined;
}

/** Gathers operations by device. No key is joined for each: that would cost as much as the rest. */
export function byDevice(operations: readonly Operation[]): ByDevice {
  const devices: Gathered[] = [];
  const deviceOf: number[] = [];
  const byKey = new Map<string, Gathered>();
  for (const operation of operations) {
    const { device } = operation;
    const other = byKey.get(device.deviceKey);
    let known = other;
    while (known !== undefined && !isSame(known.device, device)) known = known.other;
    if (known === undefined) {
      known = { device, operations: [], index: devices.length, other };
      byKey.set(device.deviceKey, known);
      devices.push(known);
    }
    known.operations.push(operation);
    deviceOf.push(known.index);
  }
  return { devices, deviceOf };
}

const isSame = (one: DeviceKey, other: DeviceKey): boolean =>
  one.appId === other.appId &&
  one.platformId === other.platformId &&
  one.deviceKey === other.deviceKey;

/** A device's key over all apps and platforms. */
export const keyOf = ({ appId, platformId, deviceKey }: DeviceKey): string =>
  `${appId}.${platformId}.${deviceKey}`;
