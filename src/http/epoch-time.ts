/** Times that callers give: in epoch milliseconds, or in ISO 8601 with a time zone. */

export const TIME_FAULT = 'must be a time: epoch milliseconds, or ISO 8601 with a time zone';

/**
 * A smaller number is before 1973 in milliseconds; in seconds every date until 5138 is smaller.
 * @publisherLimit a time in epoch milliseconds, at least → `400`: looks like seconds
 */
export const EPOCH_MS_MIN = 100_000_000_000;

/** A smaller number would lie in the past as milliseconds, and `sendAt` would send at once. */
export const LOOKS_LIKE_SECONDS =
  'must be a time in epoch milliseconds; these look like seconds. Multiply by 1,000.';
