/** How a simulated provider behaves: which faults it shows, how often, and whether a run can be repeated. */

import { z } from 'zod';
import type { ProviderAccounts } from './accounts.ts';

export interface SimulatorOptions {
  /** Where the providers listen; the control endpoint stays on loopback. Default 127.0.0.1. */
  readonly host?: string;
  /** Ports; 0 or absent: a free one. FCM and the OAuth endpoint share theirs. */
  readonly apnsPort?: number;
  readonly fcmPort?: number;
  readonly controlPort?: number;
  /** The first accepted account; absent: one is made. */
  readonly accounts?: ProviderAccounts;
  /** Faults; absent: none. */
  readonly behaviour?: BehaviourChange;
}

const share = z.number().min(0).max(1).exactOptional();
const count = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1)
  .exactOptional();

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
});

/** A partial behaviour, as options give it and as PUT /behaviour merges it. */
export const behaviourChangeSchema = z.strictObject({
  /** Time between the end of a request and its answer; no longer than a timer can wait. */
  latencyMs: count,
  /**
   * A connection's distance: all that the provider writes on it arrives so much later, and its handshakes take as long each.
   * For connections opened from then on; no longer than a timer can wait.
   */
  roundTripMs: count,
  shares: sharesSchema.exactOptional(),
  /** Requests that never get an answer. Real providers do this too (facts, 1.8). */
  silentShare: share,
  /** A GOAWAY after this many requests on a connection; 0 = never. */
  goAwayEvery: count,
  /** Null: what the real one allows, 1000 streams at APNs and 100 at FCM. */
  maxConcurrentStreams: count.unwrap().nullable().exactOptional(),
  /** What FCM says in Retry-After with 429 and 503; APNs never says it. */
  retryAfterSeconds: count,
  /** Two runs with one seed show every token the same faults. */
  seed: z.number().int().exactOptional(),
});

export type BehaviourChange = Readonly<z.infer<typeof behaviourChangeSchema>>;
export type Shares = Readonly<Required<z.infer<typeof sharesSchema>>>;
export type Behaviour = Readonly<Required<Omit<BehaviourChange, 'shares'>>> & {
  readonly shares: Shares;
};

/** No faults. One second of Retry-After, where Google says up to a minute, keeps those who test awake. */
export const KIND_BEHAVIOUR: Behaviour = {
  latencyMs: 0,
  roundTripMs: 0,
  shares: { gone: 0, badToken: 0, notFound: 0, throttled: 0, serverError: 0 },
  silentShare: 0,
  goAwayEvery: 0,
  maxConcurrentStreams: null,
  retryAfterSeconds: 1,
  seed: 1,
};

/** The behaviour after a change; shares that the change does not name stay as they were. */
export function changeBehaviour(behaviour: Behaviour, change: BehaviourChange): Behaviour {
  return { ...behaviour, ...change, shares: { ...behaviour.shares, ...change.shares } };
}

/** The behaviour in force, which PUT /behaviour replaces while requests go on. */
export interface LiveBehaviour {
  current: Behaviour;
}
