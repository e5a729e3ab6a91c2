/** Commits one batch of operations: the heart of group commit (docs/internals/registration.md). */

import { attributesOfFacets } from '../../attributes/attributes-of-facets.ts';
import { livingTags } from '../../catalogue/subscribable-tags.ts';
import type { DedicatedConnection } from '../../database/dedicated-connection.ts';
import type { Sql } from '../../database/sql.ts';
import type { DeviceGroupChange, Edits, TagEdit } from '../../domain/device-group-change.ts';
import { changesOf } from '../../domain/device-group-change.ts';
import type {
  RaisedWithEpoch,
  TagChange,
  TouchedDeviceGroup,
} from '../../statistics/record-changes.ts';
import { gainsByGroup } from '../../statistics/record-changes.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import type { ChangedDevice, DeviceResult, WrittenDevice } from '../batch.ts';
import { subscribersOf } from '../change.ts';
import type { DeviceRef } from '../operation.ts';
import type { Ordinals } from '../ordinals.ts';
import { againIfChangedSince, ChangedSince } from '../sql/changed-since.ts';
import { lockDevices } from '../sql/find-devices.ts';
import type { Batch } from '../sql/write-batch.ts';
import { writeBatch } from '../sql/write-batch.ts';
import type { FacetAttributes } from './facet-attributes.ts';
import type { JudgeLimits } from './judge.ts';
import { isWritten, judge, makeRoom, tagsAskedFor } from './judge.ts';
import type { KnownDeviceGroupTags } from './known-device-group-tags.ts';

export interface CommitContext extends JudgeLimits {
  readonly connection: DedicatedConnection;
  readonly ordinals: Ordinals;
  readonly facetAttributes: FacetAttributes;
  readonly knownGroupTags: KnownDeviceGroupTags;
  readonly feed: IndexFeed;
  /** Slot of tag_days that is written. */
  readonly slot: number;
}

/**
 * A tag deleted since the read may have no trace left by which housekeeping would take it off the
 * device (DELETED_TAG_MS of unwanted-tags.ts).
 * @limit time after which what a registration has read of a device is read again before the device
 * is written → the batch is locked and judged
 */
const READ_AGE_MS_MAX = 60_000;

/** New devices, over all tries of a transaction. */
interface NewDevices {
  /** Devices that may turn out to be new: an ordinal is provided for each. */
  readonly expected: Set<DeviceRef>;
  /** An earlier try is certainly rolled back, so its ordinals are still free. */
  readonly ordinals: Map<DeviceRef, number>;
}

interface Committed {
  readonly results: readonly DeviceResult[];
  readonly changes: readonly DeviceGroupChange[];
}

/**
 * Commits in one transaction, or throws; a repetition does no harm. Devices are written as the look
 * judged them, without locks before it. Where another transaction changed one since, all are locked
 * and judged again.
 */
export async function commitDevices(
  context: CommitContext,
  devices: readonly ChangedDevice[],
): Promise<Committed> {
  const fresh = devices.filter(({ known }) => known === null);
  const expected = new Set(fresh.map(({ device }) => device));
  const newDevices: NewDevices = { expected, ordinals: new Map() };
  const nowMs = performance.now();
  const isOld = devices.some(({ readAtMs }) => nowMs - readAtMs > READ_AGE_MS_MAX);
  let commit = isOld ? commitLocked : commitLooked;
  return await againIfChangedSince(() => {
    const attempt = commit;
    commit = commitLocked;
    return attempt(context, devices, newDevices);
  });
}

async function commitLooked(
  context: CommitContext,
  devices: readonly ChangedDevice[],
  newDevices: NewDevices,
): Promise<Committed> {
  await context.ordinals.provideFor(newDevices.expected);
  const numbered = withOrdinals(context, inOrderOfKeys(devices), newDevices);
  const written = await context.connection.transactAtOnce((tx) => write(tx, context, numbered));
  return conclude(context, devices, written);
}

async function commitLocked(
  context: CommitContext,
  devices: readonly ChangedDevice[],
  newDevices: NewDevices,
): Promise<Committed> {
  const { expected, ordinals } = newDevices;
  await context.ordinals.provideFor([...expected].filter((device) => !ordinals.has(device)));
  const { judged, written } = await context.connection.transact(
    async (tx) => {
      const locked = await judge(tx, context, devices, lockDevices, tagsAskedFor(devices));
      expectErased(locked, expected);
      const roomy = await makeRoom(context, locked, (had) => livingTags(tx, had));
      return await context.facetAttributes.judge(roomy, (had) => attributesOfFacets(tx, had));
    },
    async (tx, judged) => {
      const numbered = withOrdinals(context, judged.filter(isWritten), newDevices);
      return { judged, written: await write(tx, context, numbered) };
    },
  );
  return conclude(context, judged, written);
}

/** A known device that was erased since gets an ordinal before the transaction, in a new try. */
function expectErased(locked: readonly ChangedDevice[], expected: Set<DeviceRef>): void {
  const before = expected.size;
  for (const device of locked) {
    if (device.known === null && isWritten(device)) expected.add(device.device);
  }
  if (expected.size > before) throw new ChangedSince();
}

/** All writers lock devices in this order, so that they wait for each other and do not deadlock. */
const inOrderOfKeys = (devices: readonly ChangedDevice[]): readonly ChangedDevice[] =>
  devices.toSorted(
    ({ device: one }, { device: other }) =>
      one.appId - other.appId ||
      one.platformId - other.platformId ||
      (one.deviceKey < other.deviceKey ? -1 : 1),
  );

/** Without the new devices that get no ordinal: an app may be at its limit. */
function withOrdinals(
  { ordinals }: CommitContext,
  devices: readonly ChangedDevice[],
  { ordinals: given }: NewDevices,
): readonly WrittenDevice[] {
  const numbered: WrittenDevice[] = [];
  for (const { device, operations, readAtMs, known, change, tags, facets, numbers } of devices) {
    const ordinal = known?.ordinal ?? given.get(device) ?? ordinals.take(device);
    if (ordinal === null) continue;
    if (known === null) given.set(device, ordinal);
    // Fields by their names: a spread for each device costs more than the rest (decision 63).
    numbered.push({ device, operations, readAtMs, known, change, tags, facets, numbers, ordinal });
  }
  return numbered;
}

/** The devices that were written, and the groups that they raised. */
interface Written {
  readonly devices: readonly WrittenDevice[];
  /** The change of each device, in order. */
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
  for (const { device, ordinal, known, change, tags, facets, numbers } of devices) {
    const { appId, platformId, deviceKey, deviceId } = device;
    const { registers, unsubscribes, attributes } = change;
    if (known === null) {
      const { tagIds } = tags;
      inserted.push({
        appId,
        platformId,
        ordinal,
        deviceKey,
        deviceId,
        registeredAtMs: null,
        unsubscribes,
        attributes,
        tagIds,
        facetIds: facets.facetIds,
        numbers: numbers.numbers,
      });
    } else {
      const tagIds = hasChanged(tags) ? tags.tagIds : null;
      updated.push({
        appId,
        platformId,
        ordinal,
        version: known.version,
        registers,
        unsubscribes,
        attributes,
        tagIds,
        facetIds: hasChanged(facets) ? facets.facetIds : null,
        numbers: numbers.isChanged ? numbers.numbers : null,
      });
    }
  }
  return { updated, inserted };
}

const hasChanged = ({ gained, lost }: Pick<TagChange, 'gained' | 'lost'>): boolean =>
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
  device !== undefined &&
  (device.known === null ||
    hasChanged(device.tags) ||
    hasChanged(device.facets) ||
    isForgiven(device));

/** A registration forgives refusals, which an index must learn. Hardly any device has one. */
const isForgiven = ({ known, change }: ChangedDevice): boolean =>
  change.registers && known !== null && known.refusals > 0;

/** After the commit: the results for the callers, and the changes for the tag index. */
function conclude(
  { knownGroupTags }: CommitContext,
  judged: readonly ChangedDevice[],
  { devices, tagChanges, groups, raised }: Written,
): Committed {
  knownGroupTags.learn(groups, raised);
  const written = new Set(devices.map(({ device }) => device));
  const results = judged.map((device): DeviceResult => {
    if (isWritten(device) && !written.has(device.device)) return 'limit';
    return device.tags.isLimited ? 'tags-limited' : 'committed';
  });
  return { results, changes: changesOf(raised, editsOf(devices, tagChanges)) };
}

/** To an index a facet is as a tag. */
function withFacets(
  devices: readonly WrittenDevice[],
  tags: readonly TagEdit[],
): readonly TagEdit[] {
  const facets = devices.filter(({ facets }) => hasChanged(facets));
  if (facets.length === 0) return tags;
  return [
    ...tags,
    ...facets.map(({ device: { appId, platformId }, ordinal, facets: { gained, lost } }) => ({
      appId,
      platformId,
      ordinal,
      gained,
      lost,
    })),
  ];
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
  return { tokens, tags: withFacets(devices, tags), histories };
}
