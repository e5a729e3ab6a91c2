/**
 * Commits one batch of operations: the heart of group commit (docs/architecture.md,
 * "Registration").
 */

import type { DeviceGroupChange, Edits } from '../../domain/device-group-change.ts';
import { changesOf } from '../../domain/device-group-change.ts';
import type { SubscribableTag } from '../../store/catalogue/subscribable-tags.ts';
import { livingTags, subscribableTags } from '../../store/catalogue/subscribable-tags.ts';
import type { DedicatedConnection } from '../../store/dedicated-connection.ts';
import type { KnownDevice } from '../../store/devices/find-devices.ts';
import { findDevices, lockDevices } from '../../store/devices/find-devices.ts';
import { againIfMadeSince, MadeSince } from '../../store/devices/made-since.ts';
import type {
  RaisedWithEpoch,
  TagChange,
  TouchedDeviceGroup,
} from '../../store/devices/record-changes.ts';
import { gainsByGroup } from '../../store/devices/record-changes.ts';
import type { Batch } from '../../store/devices/write-batch.ts';
import { writeBatch } from '../../store/devices/write-batch.ts';
import type { Sql } from '../../store/sql.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import type { ChangedDevice, DeviceOperations, DeviceResult, WrittenDevice } from '../batch.ts';
import type { IsSubscribable } from '../change.ts';
import { fold, subscribersOf, tagsAfter, tagsAfterMakingRoom } from '../change.ts';
import type { DeviceRef } from '../operation.ts';
import type { Ordinals } from '../ordinals.ts';
import type { KnownDeviceGroupTags } from './known-device-group-tags.ts';
import type { RecentChanges } from './recent-changes.ts';

export interface CommitContext {
  readonly connection: DedicatedConnection;
  readonly ordinals: Ordinals;
  readonly knownGroupTags: KnownDeviceGroupTags;
  readonly feed: IndexFeed;
  readonly tagsPerDeviceMax: number;
  /** A registration that repeats one written within this time is not written (decision 42). */
  readonly freshMs: number;
  /** Of the lane. */
  readonly recentChanges: RecentChanges;
  /** Slot of tag_days that the lane writes. */
  readonly slot: number;
}

/**
 * The devices of a batch whose operations change nothing. They are answered before the others are
 * written; what happens to them later comes after their operations, so no further try of the batch
 * writes them.
 */
export interface Unchanged {
  answer(devices: readonly DeviceOperations[]): void;
  has(device: DeviceRef): boolean;
}

/**
 * Ordinals of new devices, kept for further tries of the transaction: the earlier try is certainly
 * rolled back, and the stock was filled with one ordinal for each.
 */
type GivenOrdinals = Map<DeviceRef, number>;

export interface Committed {
  /** The result of each device, in its place. */
  readonly results: readonly DeviceResult[];
  readonly changes: readonly DeviceGroupChange[];
}

/**
 * Commits, or throws; a repetition of committed changes does no harm. Mostly one transaction;
 * devices with very many tags take several.
 */
export async function commitDevices(
  context: CommitContext,
  devices: readonly DeviceOperations[],
  unchanged: Unchanged,
): Promise<Committed> {
  const given: GivenOrdinals = new Map();
  const results: DeviceResult[] = [];
  const changes: DeviceGroupChange[] = [];
  while (results.length < devices.length) {
    const rest = devices.slice(results.length);
    const done = await againIfMadeSince(() => commitOnce(context, rest, given, unchanged));
    results.push(...done.results);
    changes.push(...done.changes);
  }
  return { results, changes };
}

/**
 * Commits the first of the devices, as many as can be read together. The first read takes no locks:
 * an operation that changes nothing is done with it, because the state it read was committed.
 * New devices are written in the next round trip; existing ones are locked and read again before.
 */
async function commitOnce(
  context: CommitContext,
  devices: readonly DeviceOperations[],
  given: GivenOrdinals,
  unchanged: Unchanged,
): Promise<Committed> {
  const { connection } = context;
  const looked = await look(context, devices);
  const changed = looked.filter((seen) => isWritten(seen) && !unchanged.has(seen.device));
  const numbered = await numberNew(context, changed, given);
  const known = changed.filter((device) => device.known !== null);
  if (known.length + numbered.length === 0) {
    return conclude(context, looked, NOTHING_WRITTEN, unchanged);
  }
  const writing =
    known.length === 0
      ? connection.transactAtOnce((tx) => write(tx, context, numbered))
      : connection.transact(
          async (tx) => {
            const locked = await withoutDeadTags(
              tx,
              context,
              await judge(tx, context, known, lockDevices, tagsAskedFor(known)),
            );
            // Another transaction has erased or replaced it since.
            if (locked.some((device) => device.known === null)) throw new MadeSince();
            return locked.filter(isWritten).map(asKnown);
          },
          (tx, locked) => write(tx, context, [...locked, ...numbered]),
        );
  unchanged.answer(looked.filter((seen) => !isWritten(seen) && !unchanged.has(seen.device)));
  return conclude(context, looked, await writing, unchanged);
}

/**
 * Reads the devices, without locks, and applies their operations to them. Most batches change
 * nothing. So where the batches before did not, the tags are left out at first: a `reg` that would
 * change nothing if devices could subscribe to any tag does not, whatever has become of its tags. A
 * `set` takes off tags that were deleted, so it needs them.
 */
async function look(
  context: CommitContext,
  devices: readonly DeviceOperations[],
): Promise<readonly ChangedDevice[]> {
  const { connection, recentChanges } = context;
  if (!recentChanges.areLikely && !devices.some(hasSet)) {
    const seen = await connection.transactAtOnce((tx) =>
      judge(tx, context, devices, findDevices, null),
    );
    if (!seen.some(isWritten)) return seen;
  }
  const tagIds = tagsAskedFor(devices);
  const seen = await connection.transactAtOnce((tx) =>
    judge(tx, context, devices, findDevices, tagIds),
  );
  recentChanges.note(seen.some(isWritten));
  return seen;
}

const hasSet = ({ operations }: DeviceOperations): boolean =>
  operations.some(({ kind }) => kind === 'set');

/**
 * Reads the devices, and applies their operations to them. `tagIds`: the tags of these operations;
 * null: devices can subscribe to any tag.
 */
async function judge(
  tx: Sql,
  { freshMs, tagsPerDeviceMax }: CommitContext,
  devices: readonly DeviceOperations[],
  read: typeof findDevices,
  tagIds: readonly number[] | null,
): Promise<readonly ChangedDevice[]> {
  const keys = devices.map(({ device }) => device);
  // Sent in this order: the read of tags must see commits of other transactions during the wait for
  // the locks.
  const [found, tags] = await Promise.all([
    read(tx, keys, freshMs),
    tagIds === null ? null : subscribableTags(tx, tagIds),
  ]);
  const known: (KnownDevice | null)[] = devices.map(() => null);
  for (const device of found.devices) known[device.index] = device;
  const isSubscribable = tags === null ? isAnyTag : subscribableAmong(tags);
  return devices
    .slice(0, found.lookedFor)
    .map((device, at) =>
      changedDevice(device, known[at] ?? null, isSubscribable, tagsPerDeviceMax),
    );
}

const isAnyTag: IsSubscribable = () => true;

function subscribableAmong(tags: readonly SubscribableTag[]): IsSubscribable {
  const tagById = new Map(tags.map((tag) => [tag.id, tag]));
  return (tagId, appId) => {
    const tag = tagById.get(tagId);
    return tag !== undefined && (tag.appIds === null || tag.appIds.includes(appId));
  };
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

function changedDevice(
  { device, operations }: DeviceOperations,
  known: KnownDevice | null,
  isSubscribable: IsSubscribable,
  tagsMax: number,
): ChangedDevice {
  const change = fold(operations, isSubscribable);
  const tags = tagsAfter(known?.tagIds ?? NO_TAGS, change, tagsMax);
  return { device, operations, known, change, tags };
}

const NO_TAGS: readonly number[] = [];

/**
 * Whether the device has to be written: not for a repetition, nor to unsubscribe an unknown device.
 */
function isWritten({ known, change, tags }: ChangedDevice): boolean {
  const { registers, unsubscribes, appVersion } = change;
  if (known === null) return registers;
  // Deleted tags may take up its room; this is checked after the lock.
  if (unsubscribes || tags.isLimited || tags.gained.length + tags.lost.length > 0) return true;
  const isSameVersion = appVersion === null || appVersion === known.appVersion;
  // Refusals of its token are forgotten when its app registers again.
  const isRepetition = known.isFresh && known.refusals === 0 && isSameVersion;
  return registers && !isRepetition;
}

/**
 * Removes deleted tags that are still on devices, to make room for others. Hardly any device is at
 * its limit.
 */
async function withoutDeadTags(
  tx: Sql,
  { tagsPerDeviceMax }: CommitContext,
  devices: readonly ChangedDevice[],
): Promise<readonly ChangedDevice[]> {
  const limited = devices.filter(({ tags }) => tags.isLimited);
  const had = new Set(limited.flatMap(({ known }) => known?.tagIds ?? []));
  const living = new Set(await livingTags(tx, [...had]));
  return devices.map((device) => {
    const { known, change } = device;
    if (!device.tags.isLimited || known === null) return device;
    return { ...device, tags: tagsAfterMakingRoom(known.tagIds, change, tagsPerDeviceMax, living) };
  });
}

const asKnown = (device: ChangedDevice): WrittenDevice =>
  withOrdinal(device, device.known?.ordinal ?? -1);

/** Fields by their names: a spread for each device costs more than the rest (decision 27). */
const withOrdinal = (
  { device, operations, known, change, tags }: ChangedDevice,
  ordinal: number,
): WrittenDevice => ({ device, operations, known, change, tags, ordinal });

/**
 * Answers those of the new devices that get an ordinal: an app may be at its limit. Outside of any
 * transaction, as `provideFor` demands.
 */
async function numberNew(
  { ordinals }: CommitContext,
  changed: readonly ChangedDevice[],
  given: GivenOrdinals,
): Promise<readonly WrittenDevice[]> {
  const fresh = changed.filter(({ known }) => known === null);
  const unnumbered = fresh.filter(({ device }) => !given.has(device));
  await ordinals.provideFor(unnumbered.map(({ device }) => device));
  for (const { device } of unnumbered) {
    const ordinal = ordinals.take(device);
    if (ordinal !== null) given.set(device, ordinal);
  }
  return fresh.flatMap((device) => {
    const ordinal = given.get(device.device);
    return ordinal === undefined ? [] : withOrdinal(device, ordinal);
  });
}

/** The written devices, and the groups that they raised. */
interface Written {
  readonly devices: readonly WrittenDevice[];
  /** Of each of the devices, in its place. */
  readonly tagChanges: readonly TagChange[];
  readonly groups: readonly TouchedDeviceGroup[];
  readonly raised: readonly RaisedWithEpoch[];
}

const NOTHING_WRITTEN: Written = { devices: [], tagChanges: [], groups: [], raised: [] };

async function write(
  tx: Sql,
  { knownGroupTags, slot }: CommitContext,
  devices: readonly WrittenDevice[],
): Promise<Written> {
  if (devices.length === 0) return NOTHING_WRITTEN;
  const tagChanges = devices.map(tagChangeOf);
  const indexed = tagChanges.filter((_, at) => isIndexed(devices[at]));
  const groups = gainsByGroup(indexed).map(({ group, tagIds }) =>
    knownGroupTags.split(group, tagIds),
  );
  const raised = await writeBatch(tx, { ...rowsOf(devices), changes: tagChanges, groups, slot });
  return { devices, tagChanges, groups, raised };
}

function rowsOf(devices: readonly WrittenDevice[]): Pick<Batch, 'updated' | 'inserted'> {
  const updated: Batch['updated'][number][] = [];
  const inserted: Batch['inserted'][number][] = [];
  for (const { device, ordinal, known, change, tags } of devices) {
    const { appId, platformId, deviceKey, deviceId } = device;
    const { registers, unsubscribes, appVersion } = change;
    if (known === null) {
      const { tagIds } = tags;
      inserted.push({
        appId,
        platformId,
        ordinal,
        deviceKey,
        deviceId,
        unsubscribes,
        appVersion,
        tagIds,
      });
    } else {
      const tagIds = hasChanged(tags) ? tags.tagIds : null;
      updated.push({ appId, platformId, ordinal, registers, unsubscribes, appVersion, tagIds });
    }
  }
  return { updated, inserted };
}

const hasChanged = ({ gained, lost }: ChangedDevice['tags']): boolean =>
  gained.length + lost.length > 0;

const tagChangeOf = ({ device, ordinal, tags }: WrittenDevice): TagChange => ({
  appId: device.appId,
  platformId: device.platformId,
  ordinal,
  gained: tags.gained,
  lost: tags.lost,
  subscribers: subscribersOf(tags),
});

/** Whether an index holds what changes of the device. */
const isIndexed = (device: WrittenDevice | undefined): boolean =>
  device !== undefined && (device.known === null || hasChanged(device.tags) || isForgiven(device));

/**
 * A registration forgives earlier refusals, which an index must learn. Hardly any device has one.
 */
const isForgiven = ({ known, change }: ChangedDevice): boolean =>
  change.registers && known !== null && known.refusals > 0;

/** The results for the callers, and the changes for the tag index. */
function conclude(
  { knownGroupTags }: CommitContext,
  looked: readonly ChangedDevice[],
  { devices, tagChanges, groups, raised }: Written,
  unchanged: Unchanged,
): Committed {
  knownGroupTags.learn(groups, raised);
  const written = new Map<DeviceRef, ChangedDevice>(
    devices.map((device) => [device.device, device]),
  );
  const resultOf = (seen: ChangedDevice): DeviceResult => {
    if (unchanged.has(seen.device)) return 'committed';
    const device = written.get(seen.device);
    if (device === undefined && seen.known === null && isWritten(seen)) return 'limit';
    return (device ?? seen).tags.isLimited ? 'tags-limited' : 'committed';
  };
  const changes = changesOf(raised, editsOf(devices, tagChanges));
  return { results: looked.map(resultOf), changes };
}

function editsOf(devices: readonly WrittenDevice[], tags: readonly TagChange[]): Edits {
  const tokens: NonNullable<Edits['tokens']>[number][] = [];
  const histories: NonNullable<Edits['histories']>[number][] = [];
  for (const written of devices) {
    const { device, ordinal, known } = written;
    const { appId, platformId, deviceId } = device;
    if (known === null) tokens.push({ appId, platformId, ordinal, deviceId });
    else if (isForgiven(written)) {
      const history = { refusals: 0, environment: known.environment };
      histories.push({ appId, platformId, ordinal, history });
    }
  }
  return { tokens, tags, histories };
}
