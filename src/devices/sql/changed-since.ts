/** Handles devices that another transaction changes between look-up and write: look again. */

import { tryAgain } from '../../std/try-again.ts';

const UNIQUE_VIOLATION = '23505';
/**
 * Part of the unique constraint's name, also in partitions and shards; not of the primary key's.
 */
const OF_KEYS = /device_key/;

/**
 * The other transaction commits before a try fails, so the next try finds what it did: so many
 * failures mean as many other transactions.
 * @limit tries of a batch, or a replacement, whose devices another transaction creates, changes or
 * erases at the same time; all but the first one lock them → the batch is halved until the new
 * device is alone; the replacement: `503`
 */
const TRIES_MAX = 5;

/** A device that was found is not as it was any more: the caller has to look again. */
export class ChangedSince extends Error {}

/** Runs `work`, and again when another transaction changed a device since it looked. */
export const againIfChangedSince = <Result>(work: () => Promise<Result>): Promise<Result> =>
  tryAgain(TRIES_MAX, wasChangedSince, work);

/** Whether a statement failed because another transaction made or changed such a device. */
export const wasChangedSince = (error: unknown): boolean =>
  error instanceof ChangedSince ||
  (error instanceof Error &&
    'code' in error &&
    error.code === UNIQUE_VIOLATION &&
    'constraint_name' in error &&
    OF_KEYS.test(String(error.constraint_name)));
