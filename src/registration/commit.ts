/** One batch of operations, one transaction: the heart of group commit (docs/architecture.md, "Registration"). */

import type { GroupChange } from '../domain/group-change.ts';
import { changesOf } from '../domain/group-change.ts';
import type { SubscribableTag } from '../store/catalogue/subscribable-tags.ts';
import { subscribableTags } from '../store/catalogue/subscribable-tags.ts';
import { lockDevices } from '../store/devices/lock-devices.ts';
import { againIfMadeSince } from '../store/devices/made-since.ts';
import type { Batch, Written } from '../store/devices/write-batch.ts';
import { writeBatch } from '../store/devices/write-batch.ts';
import type { Line } from '../store/line.ts';
import type { IndexFeed } from '../tag-index/tag-index.ts';
import type { ChangedDevice, DeviceOperations, DeviceResult } from './batch.ts';
import { fold } from './change.ts';
import type { DeviceRef } from './operation.ts';
import type { Ordinals } from './ordinals.ts';
import { limitTags } from './tag-limit.ts';

export interface CommitContext {
  readonly line: Line;
  readonly ordinals: Ordinals;
  readonly feed: IndexFeed;
  readonly tagsPerDeviceMax: number;
  /** Of tag_days: the lane's number. */
  readonly slot: number;
}

/**
 * Ordinals of new devices, kept when the transaction is tried again: the one before is rolled back for certain, and the stock
 * was filled for one ordinal of each.
 */
type GivenOrdinals = Map<DeviceRef, number>;

export interface Committed {
  /** Of each device, in its place. */
  readonly results: readonly DeviceResult[];
  readonly changes: readonly GroupChange[];
}

/** Commits, or throws and has done nothing. */
export function commitDevices(
  context: CommitContext,
  devices: readonly DeviceOperations[],
): Promise<Committed> {
  const given: GivenOrdinals = new Map();
  return againIfMadeSince(() => commitOnce(context, devices, given));
}

/** Two round trips: what is there, and everything that is written. */
async function commitOnce(
  { line, ordinals, tagsPerDeviceMax, slot }: CommitContext,
  devices: readonly DeviceOperations[],
  given: GivenOrdinals,
): Promise<Committed> {
  // For every device that may turn out to be new.
  const registering = devices.filter(
    ({ device, operations }) =>
      !given.has(device) && operations.some(({ kind }) => kind !== 'ureg'),
  );
  await ordinals.provideFor(registering.map(({ device }) => device));
  return line.transact(
    async (tx) => {
      const [known, tags] = await Promise.all([
        // Before the look at tags, which is to see what others committed while this waited.
        lockDevices(
          tx,
          devices.map(({ device }) => device),
        ).execute(),
        subscribableTags(tx, tagsAskedFor(devices)),
      ]);
      const changed = foldDevices(devices, tags);
      for (const { index, ordinal, refusals, environment } of known) {
        const device = changed[index];
        if (device === undefined) continue;
        device.ordinal = ordinal;
        device.note = { refusals, environment };
      }
      for (const device of changed) {
        if (device.ordinal === null && device.change.registers) number(device, ordinals, given);
      }
      await limitTags(tx, changed, tagsPerDeviceMax);
      return changed;
    },
    async (tx, changed) => {
      const rows = rowsOf(changed);
      return conclude(changed, rows, await writeBatch(tx, { ...rows, slot }));
    },
  );
}

function tagsAskedFor(devices: readonly DeviceOperations[]): readonly number[] {
  const tagIds = new Set<number>();
  for (const { operations } of devices) {
    for (const operation of operations) {
      if (operation.kind === 'ureg') continue;
      for (const tagId of operation.tagIds) tagIds.add(tagId);
    }
  }
  return [...tagIds];
}

function foldDevices(
  devices: readonly DeviceOperations[],
  tags: readonly SubscribableTag[],
): readonly ChangedDevice[] {
  const tagById = new Map(tags.map((tag) => [tag.id, tag]));
  return devices.map(({ device, operations }) => {
    const change = fold(operations, (tagId) => {
      const tag = tagById.get(tagId);
      return tag !== undefined && (tag.appIds === null || tag.appIds.includes(device.appId));
    });
    return {
      device,
      operations,
      change,
      ordinal: null,
      note: null,
      isNew: false,
      result: 'committed',
    };
  });
}

/** Gives a device that is not there its ordinal, or the answer that there is none. */
function number(device: ChangedDevice, ordinals: Ordinals, given: GivenOrdinals): void {
  const ordinal = given.get(device.device) ?? ordinals.take(device.device);
  if (ordinal === null) {
    device.result = 'limit';
    return;
  }
  given.set(device.device, ordinal);
  device.ordinal = ordinal;
  device.isNew = true;
}

type Rows = { -readonly [Part in keyof Omit<Batch, 'slot'>]: Batch[Part][number][] };

function rowsOf(changed: readonly ChangedDevice[]): Rows {
  const rows: Rows = {
    updated: [],
    inserted: [],
    first: [],
    added: [],
    removed: [],
    cleared: [],
    forgiven: [],
  };
  for (const { device, change, ordinal, note, isNew } of changed) {
    if (ordinal === null) continue;
    const { appId, platformId } = device;
    const { add, remove, registers, unsubscribes, appVersion } = change;
    const subscriptions = isNew ? rows.first : rows.added;
    for (const tagId of add) subscriptions.push({ appId, platformId, ordinal, tagId });
    if (isNew) {
      const { deviceKey, deviceId } = device;
      const row = { appId, platformId, ordinal, deviceKey, deviceId, unsubscribes, appVersion };
      rows.inserted.push(row);
      continue;
    }
    // Who registers is no stranger any more, which an index has to hear. Hardly any was refused before.
    if (registers && note !== null && note.refusals > 0) {
      rows.forgiven.push({ appId, platformId, ordinal, note: { ...note, refusals: 0 } });
    }
    if (registers || unsubscribes) {
      rows.updated.push({ appId, platformId, ordinal, registers, unsubscribes, appVersion });
    }
    for (const tagId of remove) rows.removed.push({ appId, platformId, ordinal, tagId });
    if (change.clear) rows.cleared.push({ appId, platformId, ordinal });
  }
  return rows;
}

/** What the transaction did, for whoever asked and for the tag index. */
function conclude(
  changed: readonly ChangedDevice[],
  { inserted, first, added, removed, forgiven }: Rows,
  { groups, lost }: Written,
): Committed {
  return {
    results: changed.map(({ result }) => result),
    changes: changesOf(groups, {
      tokens: inserted,
      added: [...first, ...added],
      removed: [...removed, ...lost],
      notes: forgiven,
    }),
  };
}
