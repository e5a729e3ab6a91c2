/**
 * A registration has two stages, with a connection and a batch in flight each. The first one looks
 * which operations change anything, and answers the others; the second one writes. So repetitions,
 * most of what apps send, do not wait for commits, and a commit has the changes of several looks.
 * The operations of a device are committed in the order they came.
 */

import { Batcher } from '../../std/batcher.ts';
import { Histogram } from '../../std/histogram.ts';
import type { FailureLog } from '../../telemetry/failure-log.ts';
import type { ChangedDevice, DeviceOperations, DeviceResult } from '../batch.ts';
import { byDevice } from '../batch.ts';
import type { Uncommitted } from '../commit-apart.ts';
import { commitApart } from '../commit-apart.ts';
import type { Operation, RegistrationResult } from '../operation.ts';
import type { CommitContext, PendingDevice } from './commit.ts';
import { commitDevices } from './commit.ts';
import { isWritten } from './judge.ts';
import type { LookContext } from './look.ts';
import { lookAtAll } from './look.ts';

/**
 * 1,000 rows a batch measured 5 µs of client CPU each, 100 rows 9 µs (architecture, 3.2): more
 * gains little.
 */
const OPERATIONS_MAX = 1_000;
/**
 * Subscriptions of a batch: a thousand operations may name a thousand tags each, and a statement
 * has 10 s.
 */
const SUBSCRIPTIONS_MAX = 20_000;
/** Assumed cost of `ureg` without tags: the number of tags of the device is not known before. */
const SUBSCRIPTIONS_OF_ALL = 10;
/** The tags of its devices, which a batch reads, are a fifth of the work of those it writes. */
const TAGS_READ_PER_WEIGHT = 5;

/** From a commit without a queue to the end of a statement's time. */
const BATCH_BOUNDS_SECONDS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** A lone registration, up to as many as a batch takes. */
const BATCH_BOUNDS_OPERATIONS = [1, 3, 10, 30, 100, 300, 1_000];

/** The batches of a stage by their time and their size. */
export class BatchMeter {
  readonly seconds = new Histogram(BATCH_BOUNDS_SECONDS);
  readonly operations = new Histogram(BATCH_BOUNDS_OPERATIONS);

  /** Of a batch that is done. */
  observe(startedMs: number, operations: number): void {
    this.seconds.observe((performance.now() - startedMs) / 1_000);
    this.operations.observe(operations);
  }
}

export type StagesResult = Exclude<RegistrationResult, 'overloaded'>;

interface Pending {
  readonly operation: Operation;
  /** Null: an earlier operation of its device is still being written. */
  readonly seen: ChangedDevice | null;
  /** Tags that its device may have by then. */
  readonly tagsBefore: number;
}

/** A device whose operations are being written. */
interface Writing {
  operations: number;
  /** Tags that it may have after them. */
  tags: number;
}

export interface StagesOptions {
  readonly look: LookContext;
  readonly commit: CommitContext;
  readonly log: FailureLog;
  /** Called with the number of operations that have got a result. */
  readonly onAnswered: (count: number) => void;
}

export class Stages {
  /** For the metrics. */
  readonly looked = new BatchMeter();
  readonly written = new BatchMeter();
  readonly #options: StagesOptions;
  readonly #looks: Batcher<Operation, StagesResult>;
  readonly #writes: Batcher<Pending, StagesResult>;
  /**
   * By key: one device, or those of several apps with the same token. Their operations are written
   * without a look, which would see the state before.
   */
  readonly #writing = new Map<string, Writing>();

  constructor(options: StagesOptions) {
    this.#options = options;
    this.#looks = new Batcher({
      itemsMax: OPERATIONS_MAX,
      weightMax: SUBSCRIPTIONS_MAX,
      weightOf,
      run: (operations) => this.#look(operations),
    });
    this.#writes = new Batcher({
      itemsMax: OPERATIONS_MAX,
      weightMax: SUBSCRIPTIONS_MAX,
      weightOf: ({ operation, tagsBefore }) =>
        weightOf(operation) + tagsBefore / TAGS_READ_PER_WEIGHT,
      run: (pending) => this.#write(pending),
    });
  }

  /** Resolves with the result of the operation. Operations on one device keep their order. */
  submit(operation: Operation): Promise<StagesResult> {
    return this.#looks.submit(operation);
  }

  /** Resolves when nothing is waiting or in flight. What is looked at may wait for the write. */
  async drain(): Promise<void> {
    await this.#looks.drain();
    await this.#writes.drain();
  }

  async #look(
    operations: readonly Operation[],
  ): Promise<readonly (StagesResult | Promise<StagesResult>)[]> {
    const { look, log, onAnswered } = this.#options;
    const startedMs = performance.now();
    // All operations of a device or none, and before the wait: their entries exist until then.
    const setAside = operations.map((operation) =>
      this.#writing.has(operation.device.deviceKey) ? this.#submitWrite(operation, null) : null,
    );
    const { devices, deviceOf } = byDevice(operations.filter((_, place) => !setAside[place]));
    const outcomes = await commitApart(
      devices,
      (some) => lookAtAll(look, some),
      log,
      'registrations were not committed',
    );
    let looked = 0;
    let answered = 0;
    const results = operations.map((operation, place) => {
      const written = setAside[place] ?? null;
      if (written !== null) return written;
      const seen = outcomes[deviceOf[looked] ?? 0] ?? 'unavailable';
      looked += 1;
      if (typeof seen !== 'string' && isWritten(seen)) return this.#submitWrite(operation, seen);
      answered += 1;
      return typeof seen === 'string' ? seen : 'committed';
    });
    onAnswered(answered);
    this.looked.observe(startedMs, operations.length);
    return results;
  }

  #submitWrite(operation: Operation, seen: ChangedDevice | null): Promise<StagesResult> {
    const { deviceKey } = operation.device;
    const writing = this.#writing.get(deviceKey) ?? {
      operations: 0,
      tags: seen?.known?.tagIds.length ?? 0,
    };
    const tagsBefore = writing.tags;
    writing.operations += 1;
    writing.tags = tagsWith(operation, tagsBefore, this.#options.commit.tagsPerDeviceMax);
    this.#writing.set(deviceKey, writing);
    return this.#writes.submit({ operation, seen, tagsBefore });
  }

  async #write(pending: readonly Pending[]): Promise<readonly StagesResult[]> {
    const { commit, log, onAnswered } = this.#options;
    const startedMs = performance.now();
    const { devices, deviceOf } = byDevice(pending.map(({ operation }) => operation));
    const outcomes = await commitApart(
      withSeen(devices, deviceOf, pending),
      (some) => commitAndFeed(commit, some),
      log,
      'registrations were not committed',
    );
    for (const { operation } of pending) this.#wrote(operation.device.deviceKey);
    onAnswered(pending.length);
    this.written.observe(startedMs, pending.length);
    return pending.map(({ operation }, place) =>
      resultOf(operation, outcomes[deviceOf[place] ?? 0] ?? 'unavailable'),
    );
  }

  #wrote(deviceKey: string): void {
    const writing = this.#writing.get(deviceKey);
    if (writing === undefined) return;
    writing.operations -= 1;
    if (writing.operations === 0) this.#writing.delete(deviceKey);
  }
}

const weightOf = ({ tagIds }: Operation): number =>
  1 + (tagIds === 'all' ? SUBSCRIPTIONS_OF_ALL : tagIds.length);

/** Most tags that a device can have after the operation. It may be above the limit already. */
const tagsWith = (operation: Operation, before: number, tagsMax: number): number =>
  operation.kind === 'ureg'
    ? before
    : Math.max(before, Math.min(before + operation.tagIds.length, tagsMax));

/**
 * The devices with what the look saw. It holds only where the operations are those it looked at, no
 * fewer and no more.
 */
function withSeen(
  devices: readonly DeviceOperations[],
  deviceOf: readonly number[],
  pending: readonly Pending[],
): readonly PendingDevice[] {
  const seenOf = devices.map((): ChangedDevice | null => null);
  for (const [place, { seen }] of pending.entries()) seenOf[deviceOf[place] ?? 0] ??= seen;
  return devices.map(({ device, operations }, index) => {
    const seen = seenOf[index] ?? null;
    // A device is named by the first of its operations.
    const isSame = seen?.device === device && seen.operations.length === operations.length;
    return { device, operations, seen: isSame ? seen : null, mayBeNew: seen?.known === null };
  });
}

type Outcome = DeviceResult | Uncommitted;

async function commitAndFeed(
  context: CommitContext,
  devices: readonly PendingDevice[],
): Promise<readonly DeviceResult[]> {
  const { results, changes } = await commitDevices(context, devices);
  // Before the answer, so that a push right after it reaches the device.
  await context.feed.apply(changes);
  return results;
}

/** A limit concerns additions; an operation that unsubscribes is committed all the same. */
const resultOf = ({ kind }: Operation, outcome: Outcome): StagesResult =>
  kind === 'ureg' && outcome !== 'refused' && outcome !== 'unavailable' ? 'committed' : outcome;
