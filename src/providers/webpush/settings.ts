/**
 * The named limits of Web Push, each with its reason: from the RFCs, from the services' pages, and
 * for the sends that wait for a service.
 */

import { TTL_SECONDS_MAX } from '../../domain/payload.ts';
import type { TransportLimits } from '../../transport/transport.ts';
import { FCM_LIMITS } from '../fcm/settings.ts';

/**
 * A push service must take 4,096 octets (RFC 8030, 7.2), of which 86 are the head of the record, 1
 * its delimiter and 16 its tag (RFC 8188, 2; RFC 8291, 4).
 * @publisherLimit payload rendered for Web Push → `400`
 */
export const WEB_PUSH_PAYLOAD_BYTES_MAX = 3_993;

/**
 * TTL is required (RFC 8030, 5.2). If the publisher gives none: four weeks, for which every service
 * keeps a message (Mozilla 30 days).
 * @limit seconds of TTL on Web Push without one of the publisher's
 */
export const TTL_SECONDS_DEFAULT = TTL_SECONDS_MAX;

/**
 * Push services throttle a site for hours (Chrome: 1,000 messages a minute): a large send gets a
 * day, or its ttl.
 * @publisherLimit the same on Web Push, where a first send waits for a longer `ttl` too →
 * `expired`, else `failed`
 */
export const WEB_PUSH_PATIENCE_MS = 86_400_000;

/**
 * RFC 8292, 2: at most 24 hours. Services remember verified tokens, so each is used for long.
 * @limit a VAPID token lives
 */
export const VAPID_LIFETIME_MS = 12 * 3_600_000;
/**
 * Renewed so long before its end: clocks differ, and it must not expire during a request.
 * @limit a VAPID token is renewed before its end
 */
export const VAPID_REFRESH_BEFORE_MS = 3_600_000;

/**
 * Microsoft's 406 lasts for hours and names no time; this asks six times an hour.
 * @limit Microsoft's 406 without a time: pause
 */
export const THROTTLED_CHANNEL_PAUSE_MS = 10 * 60_000;

/**
 * Push services that one sender is connected to. Beyond it the idle one unused for longest is
 * closed. Four makers have about 40 hosts.
 * @limit push services with connections → the idle one unused for longest is closed; none idle:
 * `TooManyPushServices`, tried again
 */
export const SERVICES_MAX = 32;
/**
 * Sends that wait or are under way at one push service: three times the sends that a thread
 * encrypts in a round trip of 50 ms.
 * @limit sends held for one push service, of one credential in one thread → the sender has no room
 */
export const HELD_PER_SERVICE_MAX = 1_000;
/**
 * The same for all services that answer: one that uses up its share leaves as much to others.
 * @limit sends held for all push services that answer → the sender has no room
 */
export const HELD_MAX = 2_000;
/**
 * A service that has not answered for so long (connecting and a first answer take five round trips)
 * holds up no other any more: its sends end as unavailable …
 * @limit no answer from a push service → `PushServiceSilent`, tried again, but for some probes
 */
export const STUCK_AFTER_MS = 3_000;
/**
 * … except for so many, which probe whether it answers again.
 * @limit sends that probe a push service which does not answer
 */
export const PROBES_MAX = 8;
/**
 * A send whose turn comes later is not made: the process may have been frozen, and another node may
 * have taken over the device.
 * @limit wait of a send for its turn → not sent, tried again
 */
export const WAIT_MS_MAX = 5_000;
/**
 * How long `close` still sends waiting messages. With the transport's own wait it stays within the
 * ten seconds of SIGTERM.
 * @limit wait of sends for their turn when closing → not sent, tried again
 */
export const CLOSE_WAIT_MS_MAX = 2_000;
/**
 * Characters of an endpoint's path and query. The longest known have some 600; a service would
 * refuse a longer one in its own words.
 * @limit path and query of an endpoint → the device ends `BadSubscription`, unsent
 */
export const PATH_LENGTH_MAX = 2_048;
/**
 * Sends encrypted in one turn of the event loop, some 5 ms: between turns come reading, PINGs and
 * other senders.
 * @limit messages encrypted in a turn of the event loop → the next turn
 */
export const TURN_SENDS_MAX = 32;
/**
 * After so many refusals of a key or a message in a row, a push service that took none lately gets
 * only a few sends.
 * @limit refusals in a row of a key, or of a message, by a push service that takes none →  sends to
 * that push service are tried again later
 */
export const REFUSALS_IN_A_ROW = 8;
/**
 * In each such period only so many sends are tried: little load, yet thousands in an hour.
 * @limit period in which so many sends are tried
 */
export const REFUSED_FOR_MS = 5_000;
/** @limit sends that try it meanwhile, in each period */
export const TRIES_WHILE_REFUSED = 8;
/**
 * If a service worked within this time, a failure elsewhere is the other service's own, and a
 * refused key a subscription's own.
 * @limit a push service works, if it was good within → its failures count for the whole credential,
 * unless another works; refusals of the key count
 */
export const WORKED_WITHIN_MS = 60_000;

/** The limits of the largest service, which Google's front end serves, as it serves FCM. */
export const WEB_PUSH_LIMITS: TransportLimits = Object.freeze({
  ...FCM_LIMITS,
  /** The least that RFC 9113, 6.5.2, recommends to servers; each server announces its own. */
  streamsMax: 100,
  /** A refusal has some 200 bytes. */
  bodyBytesMax: 4_096,
});
