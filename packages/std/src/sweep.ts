/**
 * The interval of a timer that checks all waiting items for a time-out: one timer for all, instead
 * of one for each.
 */

/** A time-out is late by at most this. */
const SWEEP_EVERY_MS_MAX = 1_000;
/** Short time-outs, as tests use them, are checked this often within their length. */
const SWEEPS_PER_TIMEOUT = 4;

/** The interval for time-outs of this length. */
export const sweepEveryMs = (timeoutMs: number): number =>
  Math.min(SWEEP_EVERY_MS_MAX, timeoutMs / SWEEPS_PER_TIMEOUT);
