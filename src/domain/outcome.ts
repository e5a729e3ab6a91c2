/** How one send to one device ended: exactly one outcome, and one reaction for each kind. */

import type { ApnsEnvironment } from './device.ts';

export type Outcome = {
  /** No documentation lists the reason, so this HTTP status alone decided. Logged once. */
  readonly unfamiliarStatus?: number;
  /** Said by only one of the credential's hosts (Web Push): nothing is known of the others. */
  readonly isOneHost?: true;
} & (
  | {
      readonly kind: 'delivered';
      /** APNs: accepted in this environment, not in the one tried first. */
      readonly environment?: ApnsEnvironment;
    }
  /** Dead if registered before `sinceMs` (APNs 410), or before the send when null (FCM). */
  | {
      readonly kind: 'gone';
      readonly reason: string;
      readonly sinceMs: number | null;
      /** The token itself says so: the provider was not asked. */
      readonly isUnasked?: true;
    }
  /** Quarantined: the sender may be at fault (environment, app). Refusals are counted. */
  | {
      readonly kind: 'bad-token';
      readonly reason: string;
      /** The engine rejected the form of the token: the provider was not asked. */
      readonly isUnasked?: true;
      /** It says nothing about the token, and does not count as a refusal. */
      readonly isInconclusive?: true;
    }
  | {
      readonly kind: 'bad-message';
      readonly reason: string;
      /** It may be about this device only: a stranger can register many such devices. */
      readonly mayBeDevice?: true;
    }
  /** The credential is refused: nothing sent with it will be accepted. */
  | {
      readonly kind: 'bad-credential';
      readonly reason: string;
      /** It was accepted a moment ago: only this send is known to be refused. */
      readonly isDoubted?: true;
    }
  /** The provider's access token has expired: the same send works with a fresh one. */
  | { readonly kind: 'expired-authorization'; readonly reason: string }
  /** Too many sends to this one device. */
  | {
      readonly kind: 'throttled-device';
      readonly reason: string;
      readonly retryAfterMs: number | null;
    }
  /** Too many sends with the whole credential. */
  | {
      readonly kind: 'throttled-target';
      readonly reason: string;
      readonly retryAfterMs: number | null;
    }
  /** The provider failed: a later send may succeed. */
  | {
      readonly kind: 'unavailable';
      readonly reason: string;
      readonly retryAfterMs: number | null;
      /** Not in a provider's words, so perhaps a proxy's: only several prove a fault. */
      readonly isWordless?: true;
    }
  /** The provider has not processed it: retried at once elsewhere, by the sender if it can. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It is unknown whether the provider accepted it (time-out, connection lost). */
  | { readonly kind: 'unknown'; readonly reason: string }
);

/** One object for all: a million sends need not allocate a million times. */
export const DELIVERED: Outcome = Object.freeze({ kind: 'delivered' });

/** Whether the outcome concerns every device of this credential, not only this one. */
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

/** The provider's reason, for counts and logs; null when it was accepted. */
export const reasonOf = (outcome: Outcome): string | null =>
  outcome.kind === 'delivered' ? null : outcome.reason;
