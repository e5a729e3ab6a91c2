/** The named limits of FCM, each with its reason: from Google's pages, or else from observation. */

import type { BackoffPolicy } from '../../std/backoff.ts';
import type { TransportLimits } from '../../transport/transport.ts';

/**
 * Larger ones are answered 400 INVALID_ARGUMENT without a word about the size.
 * @publisherLimit payload rendered for FCM, without the token → copies in `data` are left out; then
 * `400` with size and limit
 */
export const FCM_PAYLOAD_BYTES_MAX = 4_096;

/** The only permission that the access token is for. */
export const FCM_SCOPE = 'https://www.googleapis.com/auth/firebase.messaging';
/** Google takes an assertion of at most an hour. */
export const ASSERTION_LIFETIME_SECONDS = 3_600;
/**
 * So that it does not expire during a request.
 * @limit an FCM token is renewed before its end
 */
export const ACCESS_TOKEN_REFRESH_BEFORE_MS = 5 * 60_000;
/**
 * Google's tokens live an hour: a longer lifetime is a mistake.
 * @limit an FCM token lives at most → a failed sign-in
 */
export const ACCESS_TOKEN_LIFETIME_MS_MAX = 24 * 60 * 60_000;
/**
 * Also if FCM calls every token expired, and for all nodes together.
 * @limit between requests for an FCM token
 */
export const ACCESS_TOKEN_REQUESTS_APART_MS = 10_000;
/**
 * Every send of the app waits for it.
 * @limit a request for an FCM token → a failed sign-in
 */
export const TOKEN_REQUEST_TIMEOUT_MS = 10_000;
/**
 * About 2 KiB.
 * @limit octets of the answer to a request for an FCM token → a failed sign-in
 */
export const TOKEN_ANSWER_BYTES_MAX = 65_536;

/**
 * FCM asks for a minute when it names no time with a 429 …
 * @limit FCM's quota without a time: pause
 */
export const QUOTA_PAUSE_MS = 60_000;
/**
 * … and says "try again in 30 seconds" on the page of its 502.
 * @limit FCM's 502 without a time: pause
 */
export const BAD_GATEWAY_PAUSE_MS = 30_000;

/**
 * FCM: "wait at least 10 seconds before retrying"; senders that do not are put on a deny list.
 * @limit wait before a retry: FCM failed (5xx), or the outcome is unknown
 */
export const FCM_FAILED: BackoffPolicy = { baseMs: 10_000, capMs: 300_000 };
/** Google's default quota of a project. */
export const GOOGLE_MESSAGES_PER_MINUTE = 600_000;

export const FCM_LIMITS: TransportLimits = Object.freeze({
  /** The streams that fcm.googleapis.com allows on a connection. */
  streamsMax: 100,
  /** FCM asks for 10 s or more; its own time-out of 5 s comes back as a 500. */
  requestTimeoutMs: 15_000,
  /** Four round trips; a healthy provider needs less than a second. */
  connectTimeoutMs: 4_000,
  /** Google's quota of 10,000 a second needs ten at 100 ms and 100 streams each. */
  connectionsMax: 64,
  growEveryMs: 250,
  /** FCM ends idle sessions after four minutes … */
  idleMsMax: 3 * 60_000,
  /** … and all of them after an hour. */
  ageMsMax: 55 * 60_000,
  /** Each refusal is a round trip; the third says that the connection is not the reason. */
  refusalsMax: 3,
  /** FCM itself ends idle sessions after four minutes. */
  pingAfterSilenceMs: 60_000,
  pingTimeoutMs: 10_000,
  /** More than three PINGs without a request are answered by GOAWAY too_many_pings. */
  pingsInARowMax: 2,
  /** Ill-behaved senders risk a denylist. */
  reconnectPauseMs: 1_000,
  reconnectPauseMsMax: 60_000,
  /** Within the ten seconds that SIGTERM leaves to the whole process. */
  drainTimeoutMs: 5_000,
  /** A refusal has about 1 KiB; the page of a 502 some KiB. */
  bodyBytesMax: 16_384,
});
