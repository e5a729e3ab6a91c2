/**
 * How a simulated provider behaves: which faults it shows, how often, and whether a run can be
 * repeated.
 */

import { z } from 'zod';

const share = z.number().min(0).max(1).exactOptional();
const wholeNumber = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);
/** As a time no longer than a timer can wait. */
const count = wholeNumber.exactOptional();

const sharesSchema = z.strictObject({
  /** Tokens that are dead: APNs 410 Unregistered, FCM 404 UNREGISTERED. Sticky. */
  gone: share,
  /** Tokens refused as malformed: APNs 400 BadDeviceToken, FCM 400 on message.token. Sticky. */
  badToken: share,
  /** Tokens answered 404 without a word that the token is dead: no reason to drop them. Sticky. */
  notFound: share,
  /** Requests answered 429. */
  throttled: share,
  /** Requests answered 500 or 503, by FCM also 502 with a page of HTML. */
  serverError: share,
  /** Requests answered 502 with a page of HTML, as a front end alone answers. */
  badGateway: share,
});

const endsSchema = z.strictObject({
  /** GOAWAY that names this request; later ones get REFUSED_STREAM. */
  goAway: count,
  /** GOAWAY that names no request yet, and when the client has heard it a second one that does. */
  goAwayTwice: count,
  /**
   * GOAWAY that names this request, then one that names an earlier one: those between were never
   * looked at.
   */
  goAwayFalling: count,
  /**
   * GOAWAY that names an earlier request; those above were never looked at, and nobody says a word
   * about them.
   */
  goAwayUnprocessed: count,
  /** GOAWAY ENHANCE_YOUR_CALM "too_many_pings" that names an earlier request, and close. */
  goAwayCalm: count,
  /** GOAWAY INTERNAL_ERROR that names an earlier request, and close. */
  goAwayInternal: count,
  /** The socket closes without a word. The last requests were accepted and are not answered. */
  cut: count,
  /** Nothing is read or written any more. The last requests were accepted and are not answered. */
  silence: count,
});

const latencySpreadSchema = z
  .strictObject({ p50Ms: wholeNumber.min(1), p99Ms: wholeNumber, maxMs: wholeNumber })
  .refine(({ p50Ms, p99Ms, maxMs }) => p50Ms <= p99Ms && p99Ms <= maxMs, 'p50 <= p99 <= max');

const outageSchema = z.strictObject({
  /** From when the behaviour is set. */
  afterMs: wholeNumber,
  /** Connections are closed, and new ones too. */
  closedMs: wholeNumber,
  /** Then every push is answered 503; then all is as before. */
  unavailableMs: wholeNumber,
});

/** What may be changed; all of it may be absent. */
export const behaviourPartSchema = z.strictObject({
  /** Time between the end of a request and its answer. */
  latencyMs: count,
  /** On top of it a time that is drawn for each request: log-normal, cut at the largest. */
  latencySpread: latencySpreadSchema.nullable().exactOptional(),
  /**
   * A connection's distance: all that the provider writes on it arrives so much later, and its
   * handshakes take as long each. For connections opened from then on.
   */
  roundTripMs: count,
  shares: sharesSchema.exactOptional(),
  /**
   * Requests that are never looked at and never answered. Real providers do this too (facts, 1.8).
   */
  silentShare: share,
  /**
   * Requests that are accepted and never answered: who sends them again reaches the device twice.
   */
  lostAnswerShare: share,
  /**
   * After how many requests a connection ends so; 0 = never. Each connection draws one of those
   * that are not 0.
   */
  ends: endsSchema.exactOptional(),
  /**
   * Null: what the real one allows: at APNs 1 until the first valid provider token, then 1000; at
   * FCM 100.
   */
  maxConcurrentStreams: wholeNumber.nullable().exactOptional(),
  /**
   * After a 4xx, 410 and 429 aside, one stream until the next success; what is in flight beyond
   * gets REFUSED_STREAM (APNs; facts, 1.3 and 1.8).
   */
  streamsFall: z.boolean().exactOptional(),
  /**
   * What a connection's requests together may have on their way, refilled by eighths. Null: more
   * than is ever sent.
   */
  windowOctets: wholeNumber
    .min(65_535)
    .max(2 ** 31 - 1)
    .nullable()
    .exactOptional(),
  /** A PING behind the answers, whenever the one before is acknowledged (FCM; facts, 2.6). */
  pingsAfterAnswers: z.boolean().exactOptional(),
  /**
   * PINGs of a client with no request between them; beyond: GOAWAY ENHANCE_YOUR_CALM
   * "too_many_pings". Null: any number.
   */
  clientPingsMax: wholeNumber.nullable().exactOptional(),
  /** GOAWAY "session_timeout" after so long without a request; 0 = never. FCM's is 4 minutes. */
  idleMsMax: count,
  /** GOAWAY "max_age" after so long; 0 = never. FCM's is an hour. */
  ageMsMax: count,
  outage: outageSchema.nullable().exactOptional(),
  /** What FCM says in Retry-After with 429 and 503; APNs never says it. */
  retryAfterSeconds: count,
  /** Two runs with one seed show every token and every connection the same faults. */
  seed: z.number().int().exactOptional(),
});

export type BehaviourPart = Readonly<z.infer<typeof behaviourPartSchema>>;
export type Shares = Readonly<Required<z.infer<typeof sharesSchema>>>;
export type Ends = Readonly<Required<z.infer<typeof endsSchema>>>;
export type LatencySpread = Readonly<z.infer<typeof latencySpreadSchema>>;
export type Outage = Readonly<z.infer<typeof outageSchema>>;
export type Behaviour = Readonly<Required<Omit<BehaviourPart, 'shares' | 'ends'>>> & {
  readonly shares: Shares;
  readonly ends: Ends;
};

/**
 * No faults. One second of Retry-After, where Google says up to a minute, keeps those who test
 * awake.
 */
export const KIND_BEHAVIOUR: Behaviour = {
  latencyMs: 0,
  latencySpread: null,
  roundTripMs: 0,
  shares: { gone: 0, badToken: 0, notFound: 0, throttled: 0, serverError: 0, badGateway: 0 },
  silentShare: 0,
  lostAnswerShare: 0,
  ends: {
    goAway: 0,
    goAwayTwice: 0,
    goAwayFalling: 0,
    goAwayUnprocessed: 0,
    goAwayCalm: 0,
    goAwayInternal: 0,
    cut: 0,
    silence: 0,
  },
  maxConcurrentStreams: null,
  streamsFall: false,
  windowOctets: null,
  pingsAfterAnswers: false,
  clientPingsMax: null,
  idleMsMax: 0,
  ageMsMax: 0,
  outage: null,
  retryAfterSeconds: 1,
  seed: 1,
};

/**
 * The behaviour after a change; shares and ends that the change does not name stay as they were.
 */
export function mergeBehaviour(behaviour: Behaviour, part: BehaviourPart): Behaviour {
  return {
    ...behaviour,
    ...part,
    shares: { ...behaviour.shares, ...part.shares },
    ends: { ...behaviour.ends, ...part.ends },
    // An object of its own, by which an outage is seen to be set again.
    ...(part.outage == null ? {} : { outage: { ...part.outage } }),
  };
}
