/**
 * Handles devices that another transaction makes, changes or erases between the look-up and the
 * write: the caller looks again, in a new transaction.
 */

import { tryAgain } from '../../std/try-again.ts';

const UNIQUE_VIOLATION = '23505';
/**
 * Part of the name of the unique constraint on device keys, also in partitions and shards. The name
 * of the primary key does not contain it.
 */
const OF_KEYS = /device_key/;

/**
 * The other transaction (of a node, an import, a replacement) commits before a try fails, so that
 * the next try finds what it has done. That many failures in a row mean that many other
 * transactions.
 * @limit tries of a batch, or a replacement, whose devices another transaction creates, changes or
 * erases at the same time; all but the first one lock them → the batch is halved until the new
 * device is alone; the replacement: `503`
 */
const TRIES_MAX = 5;

/** A device that was found is not as it was any more: the caller has to look again. */
export class ChangedSince extends Error {}

/**
 * Runs the transaction `work`, and all of it again when another one has made or changed a device
 * since it looked.
 */
export const againIfChangedSince = <Result>(work: () => Promise<Result>): Promise<Result> =>
  tryAgain(TRIES_MAX, wasChangedSince, work);

/**
 * Whether a statement failed because another transaction has made or changed such a device since
 * this one looked for it.
 */
export const wasChangedSince = (error: unknown): boolean =>
  error instanceof ChangedSince ||
  (error instanceof Error &&
    'code' in error &&
    error.code === UNIQUE_VIOLATION &&
    'constraint_name' in error &&
    OF_KEYS.test(String(error.constraint_name)));
