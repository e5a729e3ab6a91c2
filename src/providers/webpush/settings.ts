/**
 * The named limits of Web Push, each with its reason: the RFCs, the services' pages, and what the
 * sender may hold for each of them.
 */

import { TTL_SECONDS_MAX } from '../../domain/payload.ts';
import type { TransportLimits } from '../../transport/transport.ts';
import { FCM_LIMITS } from '../fcm/settings.ts';

/**
 * A push service must take 4,096 octets (RFC 8030, 7.2), of which 86 are the head of the record, 1
 * its delimiter and 16 its tag (RFC 8188, 2; RFC 8291, 4).
 */
export const WEB_PUSH_PAYLOAD_BYTES_MAX = 3_993;

/**
 * TTL is required (RFC 8030, 5.2). Without one of the publisher's: four weeks, which every service
 * keeps (Mozilla 30 days).
 */
export const TTL_SECONDS_DEFAULT = TTL_SECONDS_MAX;

/**
 * Push services throttle a site for hours (Chrome: 1,000 messages a minute): a large send gets a
 * day, or its ttl.
 */
export const WEB_PUSH_PATIENCE_MS = 86_400_000;

/**
 * RFC 8292, 2: at most 24 hours. Services remember the tokens that they have verified, so one is
 * used for long.
 */
export const VAPID_LIFETIME_MS = 12 * 3_600_000;
/**
 * Renewed so long before its end: services' clocks differ, and a request under way must not meet
 * it.
 */
export const VAPID_REFRESH_BEFORE_MS = 3_600_000;

/**
 * Microsoft's 406 lasts for hours and names no time; within the hour of retries this asks six
 * times.
 */
export const THROTTLED_CHANNEL_PAUSE_MS = 10 * 60_000;

/**
 * Push services that one sender is connected to; beyond it the idle one unused for longest is
 * closed. Four makers have about 40 hosts.
 */
export const SERVICES_MAX = 32;
/**
 * Sends that wait for or are under way at one push service: at 50 ms of round trip three times what
 * a thread encrypts.
 */
export const HELD_PER_SERVICE_MAX = 1_000;
/**
 * The same for all services that answer: one service that uses up its share leaves as much for the
 * others.
 */
export const HELD_MAX = 2_000;
/**
 * A service that has answered nothing for so long (connecting and a first answer are five round
 * trips) holds up nobody any more: what is for it ends as unavailable …
 */
export const STUCK_AFTER_MS = 3_000;
/** … but for so many, which find out whether it answers again. */
export const PROBES_MAX = 8;
/**
 * A send whose turn comes later is not made: its process may have been frozen, and another have
 * taken its device over.
 */
export const WAIT_MS_MAX = 5_000;
/**
 * How long `close` lets what waits be sent; together with the transport's own wait within the ten
 * seconds of SIGTERM.
 */
export const CLOSE_WAIT_MS_MAX = 2_000;
/**
 * Path and query of an endpoint: the longest known have some 600 characters, and what is too long a
 * service refuses in words of its own.
 */
export const PATH_LENGTH_MAX = 2_048;
/**
 * Sends encrypted in one turn of the event loop, some 5 ms: reading, PINGs and other senders come
 * in between.
 */
export const TURN_SENDS_MAX = 32;
/**
 * Refusals of a key, or of a message, in a row after which a push service that took none lately is
 * hardly asked any more.
 */
export const REFUSALS_IN_A_ROW = 8;
/**
 * For so long at a time only so many sends try again, whether they were all there was: that is no
 * load, and thousands in the hour of retries.
 */
export const REFUSED_FOR_MS = 5_000;
export const TRIES_WHILE_REFUSED = 8;
/**
 * A service that was good so lately says that a failure elsewhere is that one's own, and a refused
 * key a subscription's own.
 */
export const WORKED_WITHIN_MS = 60_000;

/** What holds for the largest of them, behind which Google's front end stands as well. */
export const WEB_PUSH_LIMITS: TransportLimits = Object.freeze({
  ...FCM_LIMITS,
  /** As RFC 9113, 6.5.2, recommends for the least that a server allows; each says its own. */
  streamsMax: 100,
  /** A refusal has some 200 bytes. */
  bodyBytesMax: 4_096,
});
