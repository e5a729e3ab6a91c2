/**
 * A lane: one batch in flight, so that the operations of a device are committed in the order they
 * came.
 */

import { Batcher } from '../../std/batcher.ts';
import { Histogram } from '../../std/histogram.ts';
import type { FailureLog } from '../../telemetry/failure-log.ts';
import type { DeviceOperations, DeviceResult } from '../batch.ts';
import { byDevice } from '../batch.ts';
import type { Uncommitted } from '../commit-apart.ts';
import { commitApart } from '../commit-apart.ts';
import type { DeviceRef, Operation, RegistrationResult } from '../operation.ts';
import type { CommitContext, Unchanged } from './commit.ts';
import { commitDevices } from './commit.ts';

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

/** From a commit without a queue to the end of a statement's time. */
const BATCH_BOUNDS_SECONDS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** A lone registration, up to as many as a batch takes. */
const BATCH_BOUNDS_OPERATIONS = [1, 3, 10, 30, 100, 300, 1_000];

/** What all lanes have committed: the batches by their time and their size. */
export class BatchMeter {
  readonly seconds = new Histogram(BATCH_BOUNDS_SECONDS);
  readonly operations = new Histogram(BATCH_BOUNDS_OPERATIONS);
}

export type LaneResult = Exclude<RegistrationResult, 'overloaded'>;

/**
 * Makes a lane. Each operation of a batch gets a result, even if the batch fails; `onAnswered` is
 * called with their number. Repetitions, most of what apps send, do not wait for the others to be
 * written: their callers are back when the next batch begins.
 */
export const createLane = (
  context: CommitContext,
  log: FailureLog,
  onAnswered: (count: number) => void,
  meter: BatchMeter,
): Batcher<Operation, LaneResult> =>
  new Batcher({
    itemsMax: OPERATIONS_MAX,
    weightMax: SUBSCRIPTIONS_MAX,
    weightOf: ({ tagIds }) => 1 + (tagIds === 'all' ? SUBSCRIPTIONS_OF_ALL : tagIds.length),
    async run(operations, answer) {
      const startedMs = performance.now();
      const places = new Map<Operation, number>();
      for (const [place, operation] of operations.entries()) places.set(operation, place);
      const results: LaneResult[] = [];
      const settle = ({ operations: some }: DeviceOperations, outcome: Outcome): void => {
        for (const operation of some) {
          const place = places.get(operation);
          // It was answered before: a batch that PostgreSQL refuses is done again in halves.
          if (place === undefined || results[place] !== undefined) continue;
          const result = resultOf(operation, outcome);
          results[place] = result;
          answer(place, result);
          onAnswered(1);
        }
      };
      const answered = new Set<DeviceRef>();
      const unchanged: Unchanged = {
        has: (device) => answered.has(device),
        answer(devices) {
          for (const { device } of devices) answered.add(device);
          // The statement that writes the others goes out first.
          setImmediate(() => {
            for (const device of devices) settle(device, 'committed');
          });
        },
      };
      const devices = byDevice(operations);
      const outcomes = await commitApart(
        devices,
        (some) => commitAndFeed(context, some, unchanged),
        log,
        'registrations were not committed',
      );
      for (const [index, device] of devices.entries()) {
        settle(device, outcomes[index] ?? 'unavailable');
      }
      meter.seconds.observe((performance.now() - startedMs) / 1_000);
      meter.operations.observe(operations.length);
      return results;
    },
  });

type Outcome = DeviceResult | Uncommitted;

async function commitAndFeed(
  context: CommitContext,
  devices: readonly DeviceOperations[],
  unchanged: Unchanged,
): Promise<readonly DeviceResult[]> {
  const { results, changes } = await commitDevices(context, devices, unchanged);
  // Before the answer, so that a push right after it reaches the device.
  await context.feed.apply(changes);
  return results;
}

/** A limit concerns additions; an operation that unsubscribes is committed all the same. */
const resultOf = ({ kind }: Operation, outcome: Outcome): LaneResult =>
  kind === 'ureg' && outcome !== 'refused' && outcome !== 'unavailable' ? 'committed' : outcome;
