/** How one send to one device ended. A sender answers every send with exactly one of these. */

export type Outcome = HowItEnded & {
  /** Only one of the several hosts that the credential's devices are spread over says so: nothing is known of the others (Web Push). */
  readonly isOneHost?: true;
};

type HowItEnded =
  /** Accepted by the provider. */
  | { readonly kind: 'delivered' }
  /** The token is dead; it may be dropped if it was registered before `sinceMs` (APNs 410), or at once when null (FCM). */
  | { readonly kind: 'gone'; readonly reason: string; readonly sinceMs: number | null }
  /** The provider does not take this token; it may still be a token of another environment, so it is kept. */
  | {
      readonly kind: 'bad-token';
      readonly reason: string;
      /** Our own judgement of the token's form: the provider was not asked. */
      readonly isUnasked?: true;
    }
  /** This message is wrong for every device. */
  | { readonly kind: 'bad-message'; readonly reason: string }
  /** The credential is refused: nothing sent with it will be accepted. */
  | { readonly kind: 'bad-credential'; readonly reason: string }
  /** The provider's access token has expired: the same send works with a fresh one. */
  | { readonly kind: 'expired-authorization'; readonly reason: string }
  /** Too many for this one device. */
  | {
      readonly kind: 'throttled-device';
      readonly reason: string;
      readonly retryAfterMs: number | null;
    }
  /** Too many for the whole credential. */
  | {
      readonly kind: 'throttled-target';
      readonly reason: string;
      readonly retryAfterMs: number | null;
    }
  /** The provider failed. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterMs: number | null }
  /** The provider never looked at it (REFUSED_STREAM, above GOAWAY's last id): retried at once by the sender itself if it can. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Nobody knows whether the provider accepted it (time-out, connection lost). Sent again: at least once. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** One object for all: a million sends need not allocate a million times. */
export const DELIVERED: Outcome = Object.freeze({ kind: 'delivered' });

/** Whether sending the same again could end otherwise. */
export function isRetryable(outcome: Outcome): boolean {
  switch (outcome.kind) {
    case 'delivered':
    case 'gone':
    case 'bad-token':
    case 'bad-message':
    case 'bad-credential':
      return false;
    case 'expired-authorization':
    case 'throttled-device':
    case 'throttled-target':
    case 'unavailable':
    case 'refused':
    case 'unknown':
      return true;
  }
}

/** Whether it says something about every device of this credential, not about this one. */
export function concernsWholeTarget(outcome: Outcome): boolean {
  if (outcome.isOneHost) return false;
  switch (outcome.kind) {
    case 'delivered':
    case 'gone':
    case 'bad-token':
    case 'throttled-device':
      return false;
    case 'bad-message':
    case 'bad-credential':
    case 'expired-authorization':
    case 'throttled-target':
    case 'unavailable':
    case 'refused':
    case 'unknown':
      return true;
  }
}

/** The provider's word for it, for counts and logs; null when it was accepted. */
export const reasonOf = (outcome: Outcome): string | null =>
  outcome.kind === 'delivered' ? null : outcome.reason;
