/** A lane: one batch in flight, so that the operations of a device are committed in the order they came. */

import type { Logger } from 'pino';
import { Batcher } from '../std/batcher.ts';
import { faultOf } from '../store/faults.ts';
import type { DeviceOperations } from './batch.ts';
import { byDevice } from './batch.ts';
import type { CommitContext } from './commit.ts';
import { commitDevices } from './commit.ts';
import type { Operation, RegistrationResult } from './operation.ts';

/** 1,000 rows a batch measured 5 µs of client CPU each, 100 rows 9 µs (architecture, 3.2): more gains little. */
const OPERATIONS_MAX = 1_000;
/** Subscriptions of a batch: a thousand operations may name a thousand tags each, and a statement has 10 s. */
const SUBSCRIPTIONS_MAX = 20_000;
/** What `ureg` without tags may cost; how many a device has is not known before. */
const SUBSCRIPTIONS_OF_ALL = 10;

export type LaneResult = Exclude<RegistrationResult, 'overloaded'>;

/**
 * Makes a lane. Whatever happens to a batch, each of its operations is answered with a result; `onAnswered` is told of how
 * many it was.
 */
export const createLane = (
  context: CommitContext,
  log: Logger,
  onAnswered: (count: number) => void,
): Batcher<Operation, LaneResult> =>
  new Batcher({
    itemsMax: OPERATIONS_MAX,
    weightMax: SUBSCRIPTIONS_MAX,
    weightOf: ({ tagIds }) => 1 + (tagIds === 'all' ? SUBSCRIPTIONS_OF_ALL : tagIds.length),
    async run(operations) {
      const results = new Map<Operation, LaneResult>();
      await commitApart(context, log, byDevice(operations), results);
      onAnswered(operations.length);
      return operations.map((operation) => results.get(operation) ?? 'unavailable');
    },
  });

/** Commits the devices together, or, when PostgreSQL refuses their data, the halves apart: one bad row stands alone. */
async function commitApart(
  context: CommitContext,
  log: Logger,
  devices: readonly DeviceOperations[],
  results: Map<Operation, LaneResult>,
): Promise<void> {
  try {
    const committed = await commitDevices(context, devices);
    // Before the answer, so that a push right after it reaches the device.
    await context.feed.apply(committed.changes);
    for (const [index, device] of devices.entries()) {
      const result = committed.results[index] ?? 'unavailable';
      for (const operation of device.operations) {
        results.set(operation, operation.kind === 'ureg' ? 'committed' : result);
      }
    }
  } catch (error) {
    const isRefusal = faultOf(error) === 'data';
    if (isRefusal && devices.length > 1) {
      const middle = Math.ceil(devices.length / 2);
      await commitApart(context, log, devices.slice(0, middle), results);
      await commitApart(context, log, devices.slice(middle), results);
      return;
    }
    log.error({ err: error, devices: devices.length }, 'registrations were not committed');
    const result = isRefusal ? 'refused' : 'unavailable';
    for (const device of devices) {
      for (const operation of device.operations) results.set(operation, result);
    }
  }
}
