/** When a push is tried again, as far as it is the same for several providers. */

import type { BackoffPolicy } from '../std/backoff.ts';
import type { RetryPolicy } from './provider.ts';

/**
 * The provider never looked at it, or nobody knows: most likely one connection's trouble, over in a
 * moment.
 */
export const LOST_ON_THE_WAY: BackoffPolicy = { baseMs: 1_000, capMs: 60_000 };
/** The provider failed, and nothing is known of its rules. */
const PROVIDER_FAILED: BackoffPolicy = { baseMs: 2_000, capMs: 300_000 };

/** Of a provider that asks for nothing. */
export const NO_KNOWN_RULES: RetryPolicy = Object.freeze({
  failed: PROVIDER_FAILED,
  unknown: LOST_ON_THE_WAY,
});

/**
 * Without a time of the publisher's a first send may begin for at least so long after it was due,
 * whatever the ttl is.
 */
export const PATIENCE_MS = 3_600_000;
