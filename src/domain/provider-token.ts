/**
 * The state of a provider token that nodes share: the value, its end, and the right to make the
 * next one.
 */

/**
 * The newest token of an identity, as all nodes see it. Times count from the moment of the answer.
 */
export interface SharedToken {
  /** Name of the value; null: there never was one. */
  readonly id: string | null;
  /** Null: there is none, it was made later than now, or it was sealed under another SECRET_KEY. */
  readonly value: string | null;
  /** Time since it was made. */
  readonly ageMs: number;
  readonly refreshInMs: number;
  readonly expiresInMs: number;
  /**
   * Time until another one may be made: the provider's interval, a freeze, a failure, or a node
   * that is making one.
   */
  readonly mintInMs: number;
  readonly isBeingMinted: boolean;
  /** Why the last attempt failed, while all nodes answer with this failure. */
  readonly failure: {
    readonly reason: string;
    /** Another attempt would end the same. */
    readonly isFinal: boolean;
    readonly lastsMs: number;
  } | null;
}

/**
 * The right to make a token: one node holds it at a time, for a short time. `nowMs` is the time by
 * the clock that all nodes share.
 */
export interface MintingRight {
  readonly mintingId: string;
  readonly nowMs: number;
}
