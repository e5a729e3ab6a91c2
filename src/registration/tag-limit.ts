/** TAGS_PER_DEVICE_MAX: what a device would have beyond it is ignored. */

import type { Sql } from '../store/sql.ts';
import type { GrowingDevice } from '../store/subscriptions/crowded-devices.ts';
import { crowdedDevices } from '../store/subscriptions/crowded-devices.ts';
import type { ChangedDevice } from './batch.ts';

/**
 * Takes the tags beyond the limit out of the changes. Tags are counted only for clients that have more of them than one
 * device may have, which hardly any has: everybody else pays nothing.
 */
export async function limitTags(
  tx: Sql,
  changed: readonly ChangedDevice[],
  tagsMax: number,
): Promise<void> {
  const counted = changed.filter(
    ({ change, operations }) => change.add.size > 0 && operations.some(countsTags),
  );
  for (const device of counted) if (device.change.clear) keepWithin(device, new Set(), tagsMax);
  const growing = counted.flatMap((device) => growingDevice(device));
  const crowded = await crowdedDevices(tx, growing, tagsMax);
  for (const { index, tagIds } of crowded) {
    const device = growing[index]?.device;
    if (device !== undefined) keepWithin(device, new Set(tagIds), tagsMax);
  }
}

const countsTags = (operation: ChangedDevice['operations'][number]): boolean =>
  operation.kind !== 'ureg' && operation.countsTags;

function growingDevice(
  device: ChangedDevice,
): readonly (GrowingDevice & { readonly device: ChangedDevice })[] {
  const { ordinal, change } = device;
  if (ordinal === null || change.clear) return [];
  const { appId, platformId } = device.device;
  return [{ device, appId, platformId, ordinal, gain: change.add.size }];
}

function keepWithin(device: ChangedDevice, tagsBefore: ReadonlySet<number>, tagsMax: number): void {
  const { add, remove } = device.change;
  let room = tagsMax;
  for (const tagId of tagsBefore) if (!remove.has(tagId)) room -= 1;
  for (const tagId of [...add]) {
    if (tagsBefore.has(tagId)) continue;
    if (room > 0) {
      room -= 1;
      continue;
    }
    add.delete(tagId);
    device.result = 'tags-limited';
  }
}
