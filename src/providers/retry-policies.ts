/** The retry policies that several providers share. */

import type { BackoffPolicy } from '../std/backoff.ts';
import type { RetryPolicy } from './provider.ts';

/**
 * Most likely one connection failed, and another works in a moment.
 * @limit wait before a retry, doubling with each failure, up to half longer by chance; a longer
 * `Retry-After` replaces it: refused unprocessed, or outcome unknown (time-out, connection lost)
 */
export const LOST_ON_THE_WAY: BackoffPolicy = { baseMs: 1_000, capMs: 60_000 };
/** @limit wait before a retry: a provider without known rules failed */
const PROVIDER_FAILED: BackoffPolicy = { baseMs: 2_000, capMs: 300_000 };

export const NO_KNOWN_RULES: RetryPolicy = Object.freeze({
  failed: PROVIDER_FAILED,
  unknown: LOST_ON_THE_WAY,
});

/**
 * @publisherLimit a device is tried again until `expiresAt` or the end of the `ttl`; without
 * `expiresAt` for this time after the push was due, a first send even if the `ttl` is over →
 * `expired`, else `failed`
 */
export const PATIENCE_MS = 3_600_000;
