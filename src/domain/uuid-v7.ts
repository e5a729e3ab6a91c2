/** UUIDs of version 7 (RFC 9562): the first 48 bits are the milliseconds at which one was made. */

import { randomInt } from 'node:crypto';
import { v7 } from 'uuid';

const TIME_MAX = 2 ** 48 - 1;
const TIME_DIGITS = 12;
const TIME_HIGH_DIGITS = 8;

/** Half of the sequence's 32 bits: the ids of a millisecond count on from a number below it. */
const SEQUENCE_FIRST_BELOW = 2 ** 31;

/**
 * How far a clock may be set back without a step in the order of ids. Further, ids follow the
 * clock: those of the library stay at the highest time that it ever saw, until the process ends.
 */
const SET_BACK_MS_MAX = 60_000;

let lastMs = Number.NEGATIVE_INFINITY;
let sequence = 0;

/** A new id; higher than all before it in this thread, unless the clock was set back. */
export function uuidV7(): string {
  const now = Date.now();
  if (now > lastMs || now < lastMs - SET_BACK_MS_MAX) {
    lastMs = now;
    sequence = randomInt(SEQUENCE_FIRST_BELOW);
  } else sequence += 1;
  return v7({ msecs: lastMs, seq: sequence });
}

/** Above all of them, as text and as the database orders them. */
export const UUID_MAX = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The lowest of those that are made at this time or later. */
export function firstUuidAt(timeMs: number): string {
  const known = Math.min(Math.max(Math.floor(timeMs), 0), TIME_MAX);
  const digits = known.toString(16).padStart(TIME_DIGITS, '0');
  const [high, low] = [digits.slice(0, TIME_HIGH_DIGITS), digits.slice(TIME_HIGH_DIGITS)];
  return `${high}-${low}-0000-0000-000000000000`;
}

/**
 * An id has its node's time, its row the database's: they are no further apart, locks included.
 * @limit clocks of nodes and database are apart, for `from` and `to` of `notifications` and `audit`
 * → rows are missing in a list by time
 */
export const CLOCKS_APART_MS_MAX = 3_600_000;

/** Bounds of ids of rows stamped from `fromMs` until before `toMs`; null: any time. Not exact. */
export const idsBetween = (
  fromMs: number | null,
  toMs: number | null,
): { readonly first: string; readonly end: string } => ({
  first: firstUuidAt(fromMs === null ? 0 : fromMs - CLOCKS_APART_MS_MAX),
  end: toMs === null ? UUID_MAX : firstUuidAt(toMs + CLOCKS_APART_MS_MAX),
});
