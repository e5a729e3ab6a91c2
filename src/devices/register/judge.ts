/** Applies the operations of a batch to its devices as they are in the database. */

import type { SubscribableTag } from '../../catalogue/subscribable-tags.ts';
import { subscribableTags } from '../../catalogue/subscribable-tags.ts';
import type { Sql } from '../../database/sql.ts';
import { areKept } from '../../domain/device-attributes.ts';
import type { NumberEntry } from '../../domain/device-numbers.ts';
import type { ChangedDevice, DeviceOperations } from '../batch.ts';
import type { IsSubscribable } from '../change.ts';
import { fold, tagsAfter, tagsAfterMakingRoom } from '../change.ts';
import { SAME_FACETS } from '../facets.ts';
import { numbersAfter } from '../numbers.ts';
import type { findDevices, KnownDevice } from '../sql/find-devices.ts';

export interface JudgeLimits {
  readonly tagsPerDeviceMax: number;
  readonly freshMs: number;
}

/** Reads devices and applies their operations. `tagIds`: their tags; null: all are subscribable. */
export async function judge(
  tx: Sql,
  { freshMs, tagsPerDeviceMax }: JudgeLimits,
  devices: readonly DeviceOperations[],
  read: typeof findDevices,
  tagIds: readonly number[] | null,
): Promise<readonly ChangedDevice[]> {
  const readAtMs = performance.now();
  const keys = devices.map(({ device }) => device);
  // Sent in this order: the read of tags must see commits of other transactions during the wait for
  // the locks.
  const [found, tags] = await Promise.all([
    read(tx, keys, freshMs, {
      facets: devices.some(namesFacets),
      numbers: devices.some(namesNumbers),
    }),
    tagIds === null ? null : subscribableTags(tx, tagIds),
  ]);
  const known: (KnownDevice | null)[] = devices.map(() => null);
  for (const device of found.devices) known[device.index] = device;
  const isSubscribable = tags === null ? isAnyTag : subscribableAmong(tags);
  return devices
    .slice(0, found.lookedFor)
    .map((device, at) =>
      changedDevice(device, readAtMs, known[at] ?? null, isSubscribable, tagsPerDeviceMax),
    );
}

const namesFacets = ({ operations }: DeviceOperations): boolean =>
  operations.some((operation) => operation.kind !== 'ureg' && operation.facets !== undefined);

const namesNumbers = ({ operations }: DeviceOperations): boolean =>
  operations.some((operation) => operation.kind !== 'ureg' && operation.numbers !== undefined);

const isAnyTag: IsSubscribable = () => true;

function subscribableAmong(tags: readonly SubscribableTag[]): IsSubscribable {
  const tagById = new Map(tags.map((tag) => [tag.id, tag]));
  return (tagId, appId) => {
    const tag = tagById.get(tagId);
    return tag !== undefined && (tag.appIds === null || tag.appIds.includes(appId));
  };
}

/** The tags that the operations are to add. */
export function tagsAskedFor(devices: readonly DeviceOperations[]): readonly number[] {
  const tagIds = new Set<number>();
  for (const { operations } of devices) {
    for (const operation of operations) {
      if (operation.kind === 'ureg') continue;
      for (const tagId of operation.tagIds) tagIds.add(tagId);
    }
  }
  return [...tagIds];
}

function changedDevice(
  { device, operations }: DeviceOperations,
  readAtMs: number,
  known: KnownDevice | null,
  isSubscribable: IsSubscribable,
  tagsMax: number,
): ChangedDevice {
  const change = fold(operations, isSubscribable);
  const tags = tagsAfter(known?.tagIds ?? NO_TAGS, change, tagsMax);
  const numbers = numbersAfter(known?.numbers ?? NO_ENTRIES, change.numbers);
  return { device, operations, readAtMs, known, change, tags, facets: SAME_FACETS, numbers };
}

const NO_TAGS: readonly number[] = [];
const NO_ENTRIES: readonly NumberEntry[] = [];

/**
 * Removes deleted tags from devices without room for their new ones. `living`: tags not deleted.
 */
export async function makeRoom(
  { tagsPerDeviceMax }: JudgeLimits,
  devices: readonly ChangedDevice[],
  living: (tagIds: readonly number[]) => Promise<readonly number[]>,
): Promise<readonly ChangedDevice[]> {
  const limited = devices.filter(({ tags }) => tags.isLimited);
  if (limited.length === 0) return devices;
  const had = new Set(limited.flatMap(({ known }) => known?.tagIds ?? []));
  const alive = new Set(await living([...had]));
  return devices.map((device) => {
    const { known, change } = device;
    if (!device.tags.isLimited || known === null) return device;
    return { ...device, tags: tagsAfterMakingRoom(known.tagIds, change, tagsPerDeviceMax, alive) };
  });
}

/** Whether the device has to be written: no repetition, no `ureg` of an unknown device. */
export function isWritten({ known, change, tags, facets, numbers }: ChangedDevice): boolean {
  const { registers, unsubscribes, attributes } = change;
  if (known === null) return registers;
  if (unsubscribes || tags.gained.length + tags.lost.length > 0) return true;
  if (facets.gained.length + facets.lost.length > 0 || numbers.isChanged) return true;
  // Refusals of its token are forgotten when its app registers again.
  const isRepetition =
    known.isFresh && known.refusals === 0 && areKept(known.attributes, attributes);
  return registers && !isRepetition;
}
