/**
 * What nodes share of a provider's token: the value, when it ends, and who may make the next one.
 */

/**
 * The newest token of an identity, as all nodes see it. Times count from the moment of the answer.
 */
export interface SharedToken {
  /** Names the value; null: there never was one. */
  readonly id: string | null;
  /** Null: there is none, or it was sealed under another SECRET_KEY. */
  readonly value: string | null;
  readonly refreshInMs: number;
  readonly expiresInMs: number;
  /**
   * Until another one may be made: the provider's interval, a freeze, a failure, somebody who is at
   * it.
   */
  readonly mintInMs: number;
  readonly isBeingMinted: boolean;
  /** Why the last attempt came to nothing, while that answers for everyone. */
  readonly failure: {
    readonly reason: string;
    /** Asking again would end the same. */
    readonly isFinal: boolean;
    readonly lastsMs: number;
  } | null;
}

/**
 * The right to make one, held by one node at a time and not for long; `nowMs` is the time by the
 * clock that all share.
 */
export interface MintingRight {
  readonly mintingId: string;
  readonly nowMs: number;
}
