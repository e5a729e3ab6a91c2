/** The named limits of APNs, each with its reason: from Apple's pages, or else from observation. */

import type { BackoffPolicy } from '../../std/backoff.ts';
import type { TransportLimits } from '../../transport/transport.ts';

/**
 * 64 today, some hundred more for Live Activities; Apple sets no length.
 * @limit digits of an APNs token → the device ends `BadDeviceToken`, unsent
 */
export const TOKEN_DIGITS_MAX = 1_024;

/**
 * Larger ones are answered 413 PayloadTooLarge …
 * @publisherLimit payload rendered for APNs → `400` with size and limit
 */
export const APNS_PAYLOAD_BYTES_MAX = 4_096;
/**
 * … but those of the type `voip`.
 * @publisherLimit payload rendered for APNs with `apnsPushType` `voip` → `400` with size and limit
 */
export const VOIP_PAYLOAD_BYTES_MAX = 5_120;

/**
 * Apple: a provider token is too old after an hour …
 * @limit an APNs token lives
 */
export const PROVIDER_TOKEN_LIFETIME_MS = 60 * 60_000;
/**
 * … and refused (429 TooManyProviderTokenUpdates) when renewed within 20 minutes.
 * @limit between two APNs tokens of a team
 */
export const PROVIDER_TOKEN_MINTS_APART_MS = 20 * 60_000;
/**
 * At random, so that not all credentials sign in the same second.
 * @limit age at which an APNs token is renewed
 */
export const PROVIDER_TOKEN_REFRESH_MS = { from: 50 * 60_000, to: 55 * 60_000 };

/** Apple's reason for renewing too often; another sender with the team's key may have done it. */
export const TOO_MANY_TOKENS = 'TooManyProviderTokenUpdates';
/**
 * The window that was broken.
 * @limit APNs' TooManyProviderTokenUpdates: pause of the team
 */
export const PROVIDER_TOKEN_UPDATES_PAUSE_MS = 20 * 60_000;

/** Apple: "wait 15 minutes" after a 5xx … */
export const APNS_RETRY_MS_DEFAULT = 900_000;
/**
 * … then exponential backoff.
 * @limit wait before a retry: APNs failed (5xx); from `APNS_RETRY_MS` up to
 */
const APNS_FAILED_MS_MAX = 3_600_000;

export const apnsFailed = (baseMs: number): BackoffPolicy => ({
  baseMs,
  capMs: APNS_FAILED_MS_MAX,
});

export const APNS_LIMITS: TransportLimits = Object.freeze({
  /** Last seen (500 in 2016, 1,500 in 2019, 1,000 since); APNs announces it at any time. */
  streamsMax: 1_000,
  /** Some streams are never answered; node-apn waits 5 s, sideshow/apns2 60 s. */
  requestTimeoutMs: 10_000,
  /** Four round trips; a healthy provider needs less than a second. */
  connectTimeoutMs: 4_000,
  /** More than two to each of some eight addresses gain little (pushy); far networks need more. */
  connectionsMax: 64,
  /** Apple's engineers ask for pauses: rapid opening of connections looks like an attack. */
  growEveryMs: 250,
  /** Further ones, opened in a slow minute, cost a megabyte each, and are soon opened again. */
  idleMsMax: 10 * 60_000,
  /** Apple: keep connections open for hours and days. */
  ageMsMax: 24 * 60 * 60_000,
  /** When the limit falls to one stream, all come back. At the third time it is known. */
  refusalsMax: 3,
  /** Idle connections die silently; node-apn asks every minute, and no limit was ever seen. */
  pingAfterSilenceMs: 60_000,
  pingTimeoutMs: 10_000,
  pingsInARowMax: Number.POSITIVE_INFINITY,
  /** Apple takes rapid opening and closing for an attack. */
  reconnectPauseMs: 1_000,
  reconnectPauseMsMax: 60_000,
  /** Within the ten seconds that SIGTERM leaves to the whole process. */
  drainTimeoutMs: 5_000,
  /** A refusal has under 100 bytes; a longer body is a proxy's page. */
  bodyBytesMax: 16_384,
});
