/**
 * Commits one batch of operations: the heart of group commit (docs/architecture.md,
 * "Registration").
 */

import type { DeviceGroupChange, Edits } from '../../domain/device-group-change.ts';
import { changesOf } from '../../domain/device-group-change.ts';
import { livingTags } from '../../store/catalogue/subscribable-tags.ts';
import type { DedicatedConnection } from '../../store/dedicated-connection.ts';
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
import { subscribersOf, tagsAfterMakingRoom } from '../change.ts';
import type { DeviceRef } from '../operation.ts';
import type { Ordinals } from '../ordinals.ts';
import type { JudgeLimits } from './judge.ts';
import { isWritten, judge, tagsAskedFor } from './judge.ts';
import type { KnownDeviceGroupTags } from './known-device-group-tags.ts';

export interface CommitContext extends JudgeLimits {
  readonly connection: DedicatedConnection;
  readonly ordinals: Ordinals;
  readonly knownGroupTags: KnownDeviceGroupTags;
  readonly feed: IndexFeed;
  /** Slot of tag_days that is written. */
  readonly slot: number;
}

export interface PendingDevice extends DeviceOperations {
  /** What the look found; null: these operations were not looked at together. */
  readonly seen: ChangedDevice | null;
  /** Whether a look has found no such device. */
  readonly mayBeNew: boolean;
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
 * devices with very many tags take several when they have to be looked at again.
 */
export async function commitDevices(
  context: CommitContext,
  devices: readonly PendingDevice[],
): Promise<Committed> {
  const given: GivenOrdinals = new Map();
  const results: DeviceResult[] = [];
  const changes: DeviceGroupChange[] = [];
  while (results.length < devices.length) {
    const rest = devices.slice(results.length);
    // Only known devices can be locked.
    let isLooked = !rest.some(({ seen, mayBeNew }) => seen === null && mayBeNew);
    const done = await againIfMadeSince(async () => {
      const looked = isLooked ? rest : await lookAgain(context, rest);
      isLooked = false;
      return await commitOnce(context, looked, given);
    });
    results.push(...done.results);
    changes.push(...done.changes);
  }
  return { results, changes };
}

/** As many of the first of them as can be read together. */
async function lookAgain(
  context: CommitContext,
  devices: readonly DeviceOperations[],
): Promise<readonly PendingDevice[]> {
  const tagIds = tagsAskedFor(devices);
  const seen = await context.connection.transactAtOnce((tx) =>
    judge(tx, context, devices, findDevices, tagIds),
  );
  return seen.map((changed) => ({
    device: changed.device,
    operations: changed.operations,
    seen: changed,
    mayBeNew: changed.known === null,
  }));
}

/**
 * New devices are written as the look has judged them, in one round trip. The others are locked,
 * read and judged again before.
 */
async function commitOnce(
  context: CommitContext,
  devices: readonly PendingDevice[],
  given: GivenOrdinals,
): Promise<Committed> {
  const { connection } = context;
  const fresh = devices.flatMap(({ seen }) => (seen !== null && seen.known === null ? seen : []));
  const known = devices.filter(({ seen }) => seen === null || seen.known !== null);
  const numbered = await numberNew(context, fresh.filter(isWritten), given);
  const written =
    known.length === 0
      ? await writeNew(context, numbered)
      : await connection.transact(
          async (tx) => {
            const locked = await withoutDeadTags(
              tx,
              context,
              await judge(tx, context, known, lockDevices, tagsAskedFor(known)),
            );
            // Another transaction has erased or replaced it since.
            if (locked.some((device) => device.known === null)) throw new MadeSince();
            return locked;
          },
          (tx, locked) =>
            write(tx, context, locked, [...locked.filter(isWritten).map(asKnown), ...numbered]),
        );
  return conclude(context, devices, fresh, written);
}

const writeNew = async (
  context: CommitContext,
  devices: readonly WrittenDevice[],
): Promise<Written> =>
  devices.length === 0
    ? NOTHING_WRITTEN
    : await context.connection.transactAtOnce((tx) => write(tx, context, [], devices));

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

/** The devices as their locks were held, those that were written, and the groups they raised. */
interface Written {
  readonly locked: readonly ChangedDevice[];
  readonly devices: readonly WrittenDevice[];
  /** Of each of the devices, in its place. */
  readonly tagChanges: readonly TagChange[];
  readonly groups: readonly TouchedDeviceGroup[];
  readonly raised: readonly RaisedWithEpoch[];
}

const NOTHING_WRITTEN: Written = {
  locked: [],
  devices: [],
  tagChanges: [],
  groups: [],
  raised: [],
};

async function write(
  tx: Sql,
  { knownGroupTags, slot }: CommitContext,
  locked: readonly ChangedDevice[],
  devices: readonly WrittenDevice[],
): Promise<Written> {
  if (devices.length === 0) return { ...NOTHING_WRITTEN, locked };
  const tagChanges = devices.map(tagChangeOf);
  const indexed = tagChanges.filter((_, at) => isIndexed(devices[at]));
  const groups = gainsByGroup(indexed).map(({ group, tagIds }) =>
    knownGroupTags.split(group, tagIds),
  );
  const raised = await writeBatch(tx, { ...rowsOf(devices), changes: tagChanges, groups, slot });
  return { locked, devices, tagChanges, groups, raised };
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
  devices: readonly PendingDevice[],
  fresh: readonly ChangedDevice[],
  { locked, devices: written, tagChanges, groups, raised }: Written,
): Committed {
  knownGroupTags.learn(groups, raised);
  const results = new Map<DeviceRef, DeviceResult>();
  for (const { device } of fresh.filter(isWritten)) results.set(device, 'limit');
  for (const { device, tags } of [...locked, ...written]) {
    results.set(device, tags.isLimited ? 'tags-limited' : 'committed');
  }
  const changes = changesOf(raised, editsOf(written, tagChanges));
  return { results: devices.map(({ device }) => results.get(device) ?? 'committed'), changes };
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
