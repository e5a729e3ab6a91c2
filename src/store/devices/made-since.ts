/**
 * Handles devices that another transaction makes between the look-up and the write: the caller
 * looks again, in a new transaction.
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
 * the next try finds its device. That many failures in a row mean that many other transactions.
 */
const TRIES_MAX = 5;

/** A device that was found no longer exists, or is another one: the caller has to look again. */
export class MadeSince extends Error {}

/**
 * Runs the transaction `work`, and all of it again when another one has made a device since it
 * looked.
 */
export const againIfMadeSince = <Result>(work: () => Promise<Result>): Promise<Result> =>
  tryAgain(TRIES_MAX, wasMadeSince, work);

/**
 * Whether a statement failed because another transaction has made such a device since this one
 * looked for it.
 */
export const wasMadeSince = (error: unknown): boolean =>
  error instanceof MadeSince ||
  (error instanceof Error &&
    'code' in error &&
    error.code === UNIQUE_VIOLATION &&
    'constraint_name' in error &&
    OF_KEYS.test(String(error.constraint_name)));
