/**
 * A device that came in between the look for it and the write: whoever looked for it looks again,
 * in a new transaction.
 */

import { tryAgain } from '../../std/try-again.ts';

const UNIQUE_VIOLATION = '23505';
/**
 * In the name of the constraint of the devices' keys, of each partition's and shard's, too; not in
 * that of the primary key.
 */
const OF_KEYS = /device_key/;

/**
 * Whoever else makes the device (another node, an import, a replacement) commits before a try
 * fails, so that the next one finds it. As many in a row mean as many others.
 */
const TRIES_MAX = 5;

/**
 * A device that was found is not there any more, or is another one: whoever found it has to look
 * again.
 */
export class MadeSince extends Error {}

/** Runs `work`, a transaction; again, whole, when another one has made a device since it looked. */
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
