/**
 * The named limits of Web Push, each with its reason: from the RFCs, from the services' pages, and
 * for the sends that wait for a service.
 */

import { TTL_SECONDS_MAX } from '../../domain/payload-bounds.ts';
import type { TransportLimits } from '../../transport/transport.ts';
import { FCM_LIMITS } from '../fcm/settings.ts';

/**
 * 4,096 octets (RFC 8030, 7.2) less the record's head 86, delimiter 1, tag 16 (RFC 8188; 8291).
 * @publisherLimit payload rendered for Web Push → `400`
 */
export const WEB_PUSH_PAYLOAD_BYTES_MAX = 3_993;

/**
 * Required (RFC 8030, 5.2). Four weeks: every service keeps a message so long.
 * @limit seconds of TTL on Web Push without one of the publisher's
 */
export const TTL_SECONDS_DEFAULT = TTL_SECONDS_MAX;

/**
 * Push services throttle a site for hours (Chrome: 1,000 messages a minute).
 * @publisherLimit the same on Web Push, where a first send waits for a longer `ttl` too →
 * `expired`, else `failed`
 */
export const WEB_PUSH_PATIENCE_MS = 86_400_000;

/**
 * RFC 8292, 2: at most 24 hours; services remember verified tokens.
 * @limit a VAPID token lives
 */
export const VAPID_LIFETIME_MS = 12 * 3_600_000;
/**
 * Clocks differ, and it must not expire during a request.
 * @limit a VAPID token is renewed before its end
 */
export const VAPID_REFRESH_BEFORE_MS = 3_600_000;

/**
 * Microsoft's 406 lasts for hours and names no time.
 * @limit Microsoft's 406 without a time: pause
 */
export const THROTTLED_CHANNEL_PAUSE_MS = 10 * 60_000;

/**
 * Four makers have about 40 hosts.
 * @limit push services with connections → the idle one unused for longest is closed; none idle:
 * `TooManyPushServices`, tried again
 */
export const SERVICES_MAX = 32;
/**
 * Three times the sends that a thread encrypts in a round trip of 50 ms.
 * @limit sends held for one push service, of one credential in one thread → the sender has no room
 */
export const HELD_PER_SERVICE_MAX = 1_000;
/**
 * One that uses up its share leaves as much to others.
 * @limit sends held for all push services that answer → the sender has no room
 */
export const HELD_MAX = 2_000;
/**
 * Connecting and a first answer take five round trips.
 * @limit no answer from a push service → `PushServiceSilent`, tried again, but for some probes
 */
export const STUCK_AFTER_MS = 3_000;
/** @limit sends that probe a push service which does not answer */
export const PROBES_MAX = 8;
/**
 * The process may have been frozen, and another node may have taken over the device.
 * @limit wait of a send for its turn → not sent, tried again
 */
export const WAIT_MS_MAX = 5_000;
/**
 * With the transport's own wait it stays within the ten seconds of SIGTERM.
 * @limit wait of sends for their turn when closing → not sent, tried again
 */
export const CLOSE_WAIT_MS_MAX = 2_000;
/**
 * The longest known have some 600 characters.
 * @limit path and query of an endpoint → the device ends `BadSubscription`, unsent
 */
export const PATH_LENGTH_MAX = 2_048;
/**
 * Some 5 ms: between turns come reading, PINGs and other senders.
 * @limit messages encrypted in a turn of the event loop → the next turn
 */
export const TURN_SENDS_MAX = 32;
/**
 * @limit refusals in a row of a key, or of a message, by a push service that takes none →  sends to
 * that push service are tried again later
 */
export const REFUSALS_IN_A_ROW = 8;
/**
 * Little load, yet thousands in an hour.
 * @limit period in which so many sends are tried
 */
export const REFUSED_FOR_MS = 5_000;
/** @limit sends that try it meanwhile, in each period */
export const TRIES_WHILE_REFUSED = 8;
/**
 * Then a failure elsewhere is the other service's own, and a refused key a subscription's own.
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
