/**
 * A registration has two stages, with a connection and a batch in flight each: a look, which
 * answers operations that change nothing, and a write. So repetitions, most of what apps send, do
 * not wait for commits. The operations of a device keep their order: what comes during its write is
 * held back, and looked at after it, before all that wait (decision 63).
 */

import { Batcher } from '../../std/batcher.ts';
import { Histogram } from '../../std/histogram.ts';
import type { FailureLog } from '../../telemetry/failure-log.ts';
import type { ChangedDevice, DeviceResult } from '../batch.ts';
import { byDevice } from '../batch.ts';
import type { Uncommitted } from '../commit-apart.ts';
import { commitApart } from '../commit-apart.ts';
import type { Operation, RegistrationResult } from '../operation.ts';
import type { CommitContext } from './commit.ts';
import { commitDevices } from './commit.ts';
import { isWritten } from './judge.ts';
import type { LookContext } from './look.ts';
import { lookAtAll } from './look.ts';

/**
 * 1,000 rows a batch measured 5 µs of client CPU each, 100 rows 9 µs; more gains little.
 * @limit operations that are looked at together; devices that are written in a transaction → the
 * next batch
 */
const ITEMS_MAX = 1_000;
/**
 * A thousand operations may name a thousand tags each, and a statement has 10 s.
 * @limit tags of the operations in a transaction → the next batch; a single operation may exceed
 * it, alone
 */
const SUBSCRIPTIONS_MAX = 20_000;
/**
 * Assumed cost of `ureg` without tags: the number of tags of the device is not known before.
 * @limit tags that a `ureg` of all counts as
 */
const SUBSCRIPTIONS_OF_ALL = 10;
/**
 * The tags that devices have, which a write sends again, cost a fifth of those it adds.
 * @limit tags that the devices of a transaction have, for each tag of its operations that may then
 * be missing → the next batch
 */
const TAGS_KEPT_PER_WEIGHT = 5;

/** From a commit without a queue to the end of a statement's time. */
const BATCH_BOUNDS_SECONDS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** A lone registration, up to as many as are looked at together. */
const BATCH_BOUNDS_OPERATIONS = [1, 3, 10, 30, 100, 300, 1_000];

class BatchMeter {
  readonly seconds = new Histogram(BATCH_BOUNDS_SECONDS);
  readonly operations = new Histogram(BATCH_BOUNDS_OPERATIONS);

  observe(startedMs: number, operations: number): void {
    this.seconds.observe((performance.now() - startedMs) / 1_000);
    this.operations.observe(operations);
  }
}

type StagesResult = Exclude<RegistrationResult, 'overloaded'>;

/** Devices with one key that are being written: one, or the same token in several apps. */
interface Writing {
  devices: number;
  readonly heldBack: HeldBack[];
}

interface HeldBack {
  readonly operation: Operation;
  resolve(result: Promise<StagesResult>): void;
}

interface StagesOptions {
  readonly look: LookContext;
  readonly commit: CommitContext;
  readonly log: FailureLog;
  readonly onAnswered: (count: number) => void;
}

export class Stages {
  readonly looked = new BatchMeter();
  readonly written = new BatchMeter();
  readonly #options: StagesOptions;
  readonly #looks: Batcher<Operation, StagesResult>;
  readonly #writes: Batcher<ChangedDevice, Outcome>;
  /** Keyed by device. Its operations wait for the write: a look would see the state before. */
  readonly #writing = new Map<string, Writing>();

  constructor(options: StagesOptions) {
    this.#options = options;
    this.#looks = new Batcher({
      itemsMax: ITEMS_MAX,
      weightMax: SUBSCRIPTIONS_MAX,
      weightOf,
      run: (operations) => this.#look(operations),
    });
    this.#writes = new Batcher({
      itemsMax: ITEMS_MAX,
      weightMax: SUBSCRIPTIONS_MAX,
      weightOf: weightOfDevice,
      run: (devices) => this.#write(devices),
    });
  }

  /** Resolves with the result of the operation. Operations on one device keep their order. */
  submit(operation: Operation): Promise<StagesResult> {
    return this.#looks.submit(operation);
  }

  async drain(): Promise<void> {
    // Looks lead to writes, and what a write has held back is looked at.
    while (!this.#looks.isIdle || !this.#writes.isIdle) {
      await this.#looks.drain();
      await this.#writes.drain();
    }
  }

  async #look(
    operations: readonly Operation[],
  ): Promise<readonly (StagesResult | Promise<StagesResult>)[]> {
    const { look, log, onAnswered } = this.#options;
    const startedMs = performance.now();
    // All operations of a device or none, and before the wait: their entries exist until then.
    const heldBack = operations.map((operation) => this.#holdBack(operation));
    const free = operations.filter((_, place) => heldBack[place] === null);
    const { devices, deviceOf } = byDevice(free);
    const outcomes = await commitApart(
      devices,
      (some) => lookAtAll(look, some),
      log,
      'registrations were not committed',
    );
    const results = outcomes.map((seen) =>
      typeof seen !== 'string' && isWritten(seen) ? this.#submitWrite(seen) : resultOf(seen),
    );
    let looked = 0;
    let answered = 0;
    const answers = operations.map((operation, place) => {
      const later = heldBack[place] ?? null;
      if (later !== null) return later;
      const result = results[deviceOf[looked] ?? 0] ?? 'unavailable';
      looked += 1;
      if (typeof result !== 'string') return result.then((outcome) => answerTo(operation, outcome));
      answered += 1;
      return answerTo(operation, result);
    });
    onAnswered(answered);
    if (free.length > 0) this.looked.observe(startedMs, free.length);
    return answers;
  }

  /** Null: its device is not being written. */
  #holdBack(operation: Operation): Promise<StagesResult> | null {
    const writing = this.#writing.get(operation.device.deviceKey);
    if (writing === undefined) return null;
    return new Promise((resolve) => {
      writing.heldBack.push({ operation, resolve });
    });
  }

  #submitWrite(device: ChangedDevice): Promise<Outcome> {
    const { deviceKey } = device.device;
    const writing = this.#writing.get(deviceKey) ?? { devices: 0, heldBack: [] };
    writing.devices += 1;
    this.#writing.set(deviceKey, writing);
    return this.#writes.submit(device);
  }

  async #write(devices: readonly ChangedDevice[]): Promise<readonly Outcome[]> {
    const { commit, log, onAnswered } = this.#options;
    const startedMs = performance.now();
    const operations = devices.reduce((sum, device) => sum + device.operations.length, 0);
    try {
      return await commitApart(
        devices,
        (some) => commitAndFeed(commit, some),
        log,
        'registrations were not committed',
      );
    } finally {
      this.#release(devices);
      onAnswered(operations);
      this.written.observe(startedMs, operations);
    }
  }

  /** Operations that they have held back come before all that wait for a look: those are later. */
  #release(devices: readonly ChangedDevice[]): void {
    const released: HeldBack[] = [];
    for (const { device } of devices) {
      const writing = this.#writing.get(device.deviceKey);
      if (writing === undefined) continue;
      writing.devices -= 1;
      if (writing.devices > 0) continue;
      this.#writing.delete(device.deviceKey);
      for (const heldBack of writing.heldBack) released.push(heldBack);
    }
    if (released.length === 0) return;
    const results = this.#looks.submitFirst(released.map(({ operation }) => operation));
    for (const [at, result] of results.entries()) released[at]?.resolve(result);
  }
}

const weightOf = (operation: Operation): number => {
  if (operation.kind !== 'ureg') {
    return (
      1 + operation.tagIds.length + (operation.facets?.size ?? 0) + (operation.numbers?.size ?? 0)
    );
  }
  return 1 + (operation.tagIds === 'all' ? SUBSCRIPTIONS_OF_ALL : operation.tagIds.length);
};

const weightOfDevice = ({ operations, known }: ChangedDevice): number =>
  operations.reduce((sum, operation) => sum + weightOf(operation), 0) +
  (known?.tagIds.length ?? 0) / TAGS_KEPT_PER_WEIGHT;

type Outcome = DeviceResult | Uncommitted;

async function commitAndFeed(
  context: CommitContext,
  devices: readonly ChangedDevice[],
): Promise<readonly DeviceResult[]> {
  const { results, changes } = await commitDevices(context, devices);
  // Before the answer, so that a push right after it reaches the device.
  await context.feed.apply(changes);
  return results;
}

/** The outcome for a device that is not written, or could not be looked at. */
const resultOf = (seen: ChangedDevice | Uncommitted): Outcome => {
  if (typeof seen === 'string') return seen;
  return seen.tags.isLimited ? 'tags-limited' : 'committed';
};

/** A limit concerns additions; an operation that unsubscribes is committed all the same. */
const answerTo = ({ kind }: Operation, outcome: Outcome): StagesResult =>
  kind === 'ureg' && outcome !== 'refused' && outcome !== 'unavailable' ? 'committed' : outcome;
