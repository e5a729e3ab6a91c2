/** One batch of operations: the heart of group commit (docs/architecture.md, "Registration"). */

import type { Edits, GroupChange, GroupKey } from '../../domain/group-change.ts';
import { changesOf, groupKeyOf, groupOfPlace } from '../../domain/group-change.ts';
import type { SubscribableTag } from '../../store/catalogue/subscribable-tags.ts';
import { livingTags, subscribableTags } from '../../store/catalogue/subscribable-tags.ts';
import type { KnownDevice } from '../../store/devices/find-devices.ts';
import { findDevices, lockDevices } from '../../store/devices/find-devices.ts';
import { againIfMadeSince, MadeSince } from '../../store/devices/made-since.ts';
import type {
  RaisedWithEpoch,
  TagChange,
  TouchedGroup,
} from '../../store/devices/record-changes.ts';
import type { Batch } from '../../store/devices/write-batch.ts';
import { writeBatch } from '../../store/devices/write-batch.ts';
import type { Line } from '../../store/line.ts';
import type { Sql } from '../../store/sql.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import type { ChangedDevice, DeviceOperations, DeviceResult, WrittenDevice } from '../batch.ts';
import { fold, tagsAfter } from '../change.ts';
import type { DeviceRef } from '../operation.ts';
import type { Ordinals } from '../ordinals.ts';
import type { KnownGroupTags } from './known-group-tags.ts';

export interface CommitContext {
  readonly line: Line;
  readonly ordinals: Ordinals;
  readonly knownGroupTags: KnownGroupTags;
  readonly feed: IndexFeed;
  readonly tagsPerDeviceMax: number;
  /** A repetition of a registration that was written within this is not written (decision 42). */
  readonly freshMs: number;
  /** Of tag_days: the lane's number. */
  readonly slot: number;
}

/**
 * Ordinals of new devices, kept when the transaction is tried again: the one before is rolled back
 * for certain, and the stock was filled for one ordinal of each.
 */
type GivenOrdinals = Map<DeviceRef, number>;

export interface Committed {
  /** Of each device, in its place. */
  readonly results: readonly DeviceResult[];
  readonly changes: readonly GroupChange[];
}

/**
 * Commits, or throws: what was committed before is committed again without harm. Mostly in one
 * transaction; devices with very many tags are in several.
 */
export async function commitDevices(
  context: CommitContext,
  devices: readonly DeviceOperations[],
): Promise<Committed> {
  const given: GivenOrdinals = new Map();
  const results: DeviceResult[] = [];
  const changes: GroupChange[] = [];
  while (results.length < devices.length) {
    const rest = devices.slice(results.length);
    const done = await againIfMadeSince(() => commitOnce(context, rest, given));
    results.push(...done.results);
    changes.push(...done.changes);
  }
  return { results, changes };
}

/**
 * The first of the devices, as many as can be looked at together. Looks without locks: what changes
 * nothing is answered, for what was read had been committed. New devices are written in the next
 * round trip; those that are there are locked and looked at once more before.
 */
async function commitOnce(
  context: CommitContext,
  devices: readonly DeviceOperations[],
  given: GivenOrdinals,
): Promise<Committed> {
  const { line } = context;
  const looked = await line.transactAtOnce((tx) => look(tx, context, devices, findDevices));
  const changed = looked.filter(isWritten);
  const numbered = await numberNew(context, changed, given);
  const known = changed.filter((device) => device.known !== null);
  if (known.length + numbered.length === 0) return conclude(context, looked, NOTHING_WRITTEN);
  const written =
    known.length === 0
      ? await line.transactAtOnce((tx) => write(tx, context, numbered))
      : await line.transact(
          async (tx) => {
            const locked = await withoutDeadTags(
              tx,
              context,
              await look(tx, context, known, lockDevices),
            );
            // Somebody has erased or replaced it since.
            if (locked.some((device) => device.known === null)) throw new MadeSince();
            return locked.filter(isWritten).map(asKnown);
          },
          (tx, locked) => write(tx, context, [...locked, ...numbered]),
        );
  return conclude(context, looked, written);
}

/** The devices as they are, what is asked for them, and what that makes of them. */
async function look(
  tx: Sql,
  { freshMs, tagsPerDeviceMax }: CommitContext,
  devices: readonly DeviceOperations[],
  read: typeof findDevices,
): Promise<readonly ChangedDevice[]> {
  const keys = devices.map(({ device }) => device);
  // Issued in this order: the look at tags is to see what others committed while the locks were
  // waited for.
  const [found, tags] = await Promise.all([
    read(tx, keys, freshMs),
    subscribableTags(tx, tagsAskedFor(devices)),
  ]);
  const known = new Map(found.devices.map((device) => [device.index, device]));
  const tagById = new Map(tags.map((tag) => [tag.id, tag]));
  return devices
    .slice(0, found.lookedFor)
    .map((device, at) => changedDevice(device, known.get(at) ?? null, tagById, tagsPerDeviceMax));
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
  tagById: ReadonlyMap<number, SubscribableTag>,
  tagsMax: number,
): ChangedDevice {
  const change = fold(operations, (tagId) => {
    const tag = tagById.get(tagId);
    return tag !== undefined && (tag.appIds === null || tag.appIds.includes(device.appId));
  });
  return {
    device,
    operations,
    known,
    change,
    tags: tagsAfter(known?.tagIds ?? [], change, tagsMax),
  };
}

/**
 * Whether anything has to be written of it: not of a repetition, and not of what unsubscribes a
 * stranger.
 */
function isWritten({ known, change, tags }: ChangedDevice): boolean {
  const { registers, unsubscribes, appVersion } = change;
  if (known === null) return registers;
  // Tags that were deleted may take up its room, which is looked at behind the lock.
  if (unsubscribes || tags.isLimited || tags.gained.length + tags.lost.length > 0) return true;
  const isSameVersion = appVersion === null || appVersion === known.appVersion;
  // What a provider said of its token is forgotten when its app comes again.
  const isRepetition = known.isFresh && known.refusals === 0 && isSameVersion;
  return registers && !isRepetition;
}

/**
 * Tags that were deleted, and that nobody has taken off a device yet, leave room for others. Hardly
 * any device is at its limit.
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
    const dead = known.tagIds.filter((tagId) => !living.has(tagId));
    const remove = new Set([...change.remove, ...dead]);
    return { ...device, tags: tagsAfter(known.tagIds, { ...change, remove }, tagsPerDeviceMax) };
  });
}

const asKnown = (device: ChangedDevice): WrittenDevice => ({
  ...device,
  ordinal: device.known?.ordinal ?? -1,
});

/**
 * Those of the new devices that get an ordinal: the app may have no more. Outside of any
 * transaction, as `provideFor` asks.
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
    return ordinal === undefined ? [] : { ...device, ordinal };
  });
}

/** What was written, and what it raised. */
interface Written {
  readonly devices: readonly WrittenDevice[];
  readonly groups: readonly TouchedGroup[];
  readonly raised: readonly RaisedWithEpoch[];
}

const NOTHING_WRITTEN: Written = { devices: [], groups: [], raised: [] };

async function write(
  tx: Sql,
  { knownGroupTags, slot }: CommitContext,
  devices: readonly WrittenDevice[],
): Promise<Written> {
  if (devices.length === 0) return NOTHING_WRITTEN;
  const changes = devices.map(tagChangeOf);
  const groups = gainsByGroup(devices).map(({ group, tagIds }) =>
    knownGroupTags.split(group, tagIds),
  );
  const raised = await writeBatch(tx, { ...rowsOf(devices), changes, groups, slot });
  return { devices, groups, raised };
}

function rowsOf(devices: readonly WrittenDevice[]): Pick<Batch, 'updated' | 'inserted'> {
  const updated: Batch['updated'][number][] = [];
  const inserted: Batch['inserted'][number][] = [];
  for (const { device, ordinal, known, change, tags } of devices) {
    const { appId, platformId, deviceKey, deviceId } = device;
    const { registers, unsubscribes, appVersion } = change;
    const row = { appId, platformId, ordinal, unsubscribes, appVersion };
    if (known === null) inserted.push({ ...row, deviceKey, deviceId, tagIds: tags.tagIds });
    else updated.push({ ...row, registers, tagIds: hasChanged(tags) ? tags.tagIds : null });
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
});

/**
 * The groups in which anything changes that an index holds, each with all that anybody in it gains.
 */
function gainsByGroup(
  devices: readonly WrittenDevice[],
): readonly { readonly group: GroupKey; readonly tagIds: Set<number> }[] {
  const groups = new Map<string, { readonly group: GroupKey; readonly tagIds: Set<number> }>();
  for (const device of devices) {
    if (device.known !== null && !hasChanged(device.tags) && !isForgiven(device)) continue;
    const group = groupOfPlace(tagChangeOf(device));
    const key = groupKeyOf(group);
    const known = groups.get(key) ?? { group, tagIds: new Set() };
    groups.set(key, known);
    for (const tagId of device.tags.gained) known.tagIds.add(tagId);
  }
  return [...groups.values()];
}

/**
 * Who registers is no stranger any more, which an index has to hear. Hardly any was refused before.
 */
const isForgiven = ({ known, change }: ChangedDevice): boolean =>
  change.registers && known !== null && known.refusals > 0;

/** What was done, for whoever asked and for the tag index. */
function conclude(
  { knownGroupTags }: CommitContext,
  looked: readonly ChangedDevice[],
  { devices, groups, raised }: Written,
): Committed {
  knownGroupTags.learn(groups, raised);
  const written = new Map<DeviceRef, ChangedDevice>(
    devices.map((device) => [device.device, device]),
  );
  const resultOf = (seen: ChangedDevice): DeviceResult => {
    const device = written.get(seen.device);
    if (device === undefined && seen.known === null && isWritten(seen)) return 'limit';
    return (device ?? seen).tags.isLimited ? 'tags-limited' : 'committed';
  };
  return { results: looked.map(resultOf), changes: changesOf(raised, editsOf(devices)) };
}

function editsOf(devices: readonly WrittenDevice[]): Edits {
  const tokens: NonNullable<Edits['tokens']>[number][] = [];
  const added: NonNullable<Edits['added']>[number][] = [];
  const removed: NonNullable<Edits['removed']>[number][] = [];
  const notes: NonNullable<Edits['notes']>[number][] = [];
  for (const written of devices) {
    const { device, ordinal, known, tags } = written;
    const { appId, platformId, deviceId } = device;
    const place = { appId, platformId, ordinal };
    if (known === null) tokens.push({ ...place, deviceId });
    else if (isForgiven(written)) {
      notes.push({ ...place, note: { refusals: 0, environment: known.environment } });
    }
    for (const tagId of tags.gained) added.push({ ...place, tagId });
    for (const tagId of tags.lost) removed.push({ ...place, tagId });
  }
  return { tokens, added, removed, notes };
}
