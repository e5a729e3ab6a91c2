/** The state of a provider token that nodes share: value, end, the right to make the next one. */

/** The newest token of an identity. Times count from the moment of the answer. */
export interface SharedToken {
  /** Name of the value; null: there never was one. */
  readonly id: string | null;
  /** Null: there is none, it was made later than now, or it was sealed under another SECRET_KEY. */
  readonly value: string | null;
  readonly ageMs: number;
  readonly refreshInMs: number;
  readonly expiresInMs: number;
  /** Time until another may be made: interval, freeze, failure, or a node that makes one. */
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

/** The right to make a token, of one node at a time. `nowMs`: by the clock that all nodes share. */
export interface MintingRight {
  readonly mintingId: string;
  readonly nowMs: number;
}
