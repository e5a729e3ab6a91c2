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
/** Bounded so that a time is no longer than a timer can wait. */
const count = wholeNumber.exactOptional();

const sharesSchema = z.strictObject({
  /** Tokens that are dead: APNs 410 Unregistered, FCM 404 UNREGISTERED. Sticky. */
  gone: share,
  /** Tokens refused as malformed: APNs 400 BadDeviceToken, FCM 400 on message.token. Sticky. */
  badToken: share,
  /**
   * Tokens answered with a 404 that does not say that the token is dead: no reason to drop them.
   * Sticky.
   */
  notFound: share,
  /** Requests answered 429. */
  throttled: share,
  /** Requests answered 500 or 503, by FCM also 502 with a page of HTML. */
  serverError: share,
  /** Requests answered 502 with a page of HTML, as a front end answers whose API is down. */
  badGateway: share,
  /**
   * Requests whose good credential is refused all the same: APNs 403 InvalidProviderToken, FCM 403
   * PERMISSION_DENIED, a push service 403 BadJwtToken.
   */
  badCredential: share,
});

const endsSchema = z.strictObject({
  /** GOAWAY that names this request; later ones get REFUSED_STREAM. */
  goAway: count,
  /**
   * GOAWAY that names no request yet. When the client has read it, a second one names the last
   * request.
   */
  goAwayTwice: count,
  /**
   * GOAWAY that names this request, then one that names an earlier one: requests between them were
   * never processed.
   */
  goAwayFalling: count,
  /**
   * GOAWAY that names an earlier request. Later ones were never processed, and are never answered.
   */
  goAwayUnprocessed: count,
  /** GOAWAY ENHANCE_YOUR_CALM "too_many_pings" that names an earlier request, and close. */
  goAwayCalm: count,
  /** GOAWAY INTERNAL_ERROR that names an earlier request, and close. */
  goAwayInternal: count,
  /** The socket closes without a GOAWAY. The last requests were accepted and are not answered. */
  cut: count,
  /** Nothing is read or written any more. The last requests were accepted and are not answered. */
  silence: count,
});

const latencySpreadSchema = z
  .strictObject({ p50Ms: wholeNumber.min(1), p99Ms: wholeNumber, maxMs: wholeNumber })
  .refine(({ p50Ms, p99Ms, maxMs }) => p50Ms <= p99Ms && p99Ms <= maxMs, 'p50 <= p99 <= max');

const outageSchema = z.strictObject({
  /** Counted from the change of the behaviour. */
  afterMs: wholeNumber,
  /** Open and new connections are closed. */
  closedMs: wholeNumber,
  /** Then every push is answered 503; after that the provider works as before. */
  unavailableMs: wholeNumber,
});

/**
 * Providers refuse tokens that are off by minutes or an hour: a day is far more.
 * @limit the clock of the simulated providers, from this machine's → `400`
 */
const CLOCK_AHEAD_MS_MAX = 86_400_000;

/** A change of the behaviour; every field may be absent. */
export const behaviourPartSchema = z.strictObject({
  /** Time between the end of a request and its answer. */
  latencyMs: count,
  /** An additional time that is drawn for each request: log-normal, limited by the largest. */
  latencySpread: latencySpreadSchema.nullable().exactOptional(),
  /**
   * A connection's distance: everything that the provider writes on it arrives this much later, and
   * each of its handshakes takes this long. For connections opened from then on.
   */
  roundTripMs: count,
  shares: sharesSchema.exactOptional(),
  /**
   * Requests that are never processed and never answered. Real providers do this too
   * (internals/providers.md, "APNs: connections").
   */
  silentShare: share,
  /**
   * Requests that are accepted and never answered: a client that repeats one reaches the device
   * twice.
   */
  lostAnswerShare: share,
  /**
   * The number of requests after which a connection ends in each way; 0 = never. Each connection
   * draws one of those that are not 0.
   */
  ends: endsSchema.exactOptional(),
  /**
   * Null: the limit of the real provider: at APNs 1 until the first valid provider token, then
   * 1000; at FCM 100.
   */
  maxConcurrentStreams: wholeNumber.nullable().exactOptional(),
  /**
   * After a 4xx other than 410 and 429, one stream until the next success; further requests in
   * flight get REFUSED_STREAM (APNs; internals/providers.md, "APNs: connections").
   */
  streamsFall: z.boolean().exactOptional(),
  /**
   * Octets that a connection's requests together may have on their way, refilled by eighths. Null:
   * more than any client sends.
   */
  windowOctets: wholeNumber
    .min(65_535)
    .max(2 ** 31 - 1)
    .nullable()
    .exactOptional(),
  /**
   * A PING after the answers, whenever the previous one is acknowledged (FCM;
   * internals/providers.md, "FCM: connections").
   */
  pingsAfterAnswers: z.boolean().exactOptional(),
  /**
   * PINGs that a client may send without a request between them. One more gets GOAWAY
   * ENHANCE_YOUR_CALM "too_many_pings". Null: any number.
   */
  clientPingsMax: wholeNumber.nullable().exactOptional(),
  /** GOAWAY "session_timeout" after this time without a request; 0 = never. FCM's is 4 minutes. */
  idleMsMax: count,
  /** GOAWAY "max_age" after this time; 0 = never. FCM's is an hour. */
  ageMsMax: count,
  outage: outageSchema.nullable().exactOptional(),
  /**
   * How far the provider's clock is ahead of this machine's; below 0: it is late. A sender whose
   * clock is ahead sees a late provider.
   */
  clockAheadMs: z.number().int().min(-CLOCK_AHEAD_MS_MAX).max(CLOCK_AHEAD_MS_MAX).exactOptional(),
  /** The push service of browsers answers as Microsoft's does, for Edge. */
  isMicrosoft: z.boolean().exactOptional(),
  /** FCM's Retry-After with 429 and 503; APNs never sends it. */
  retryAfterSeconds: count,
  /** `GET /shown/…` has what the devices show. Each accepted push is read for it. */
  keepsShown: z.boolean().exactOptional(),
  /** Two runs with the same seed show every token and every connection the same faults. */
  seed: z.number().int().exactOptional(),
});

export type BehaviourPart = Readonly<z.infer<typeof behaviourPartSchema>>;
type Shares = Readonly<Required<z.infer<typeof sharesSchema>>>;
export type Ends = Readonly<Required<z.infer<typeof endsSchema>>>;
export type LatencySpread = Readonly<z.infer<typeof latencySpreadSchema>>;
export type Outage = Readonly<z.infer<typeof outageSchema>>;
export type Behaviour = Readonly<Required<Omit<BehaviourPart, 'shares' | 'ends'>>> & {
  readonly shares: Shares;
  readonly ends: Ends;
};

/**
 * No faults. Retry-After is one second, so that tests need not wait; Google says up to a minute.
 */
export const KIND_BEHAVIOUR: Behaviour = {
  latencyMs: 0,
  latencySpread: null,
  roundTripMs: 0,
  shares: {
    gone: 0,
    badToken: 0,
    notFound: 0,
    throttled: 0,
    serverError: 0,
    badGateway: 0,
    badCredential: 0,
  },
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
  clockAheadMs: 0,
  isMicrosoft: false,
  retryAfterSeconds: 1,
  keepsShown: false,
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
    // A new object, so that an outage that is set again is seen as a change.
    ...(part.outage == null ? {} : { outage: { ...part.outage } }),
  };
}
