/**
 * How one send to one device ended. A sender answers every send with exactly one of these, and each
 * kind is one reaction.
 */

import type { ApnsEnvironment } from './credential.ts';

export type Outcome = {
  /** The reason is in nobody's documentation, so this HTTP status alone decided. Logged once. */
  readonly unfamiliarStatus?: number;
  /**
   * Only one of the several hosts that the credential's devices are spread over says so: nothing is
   * known of the others (Web Push).
   */
  readonly isOneHost?: true;
} & (
  | {
      /** Accepted by the provider. */
      readonly kind: 'delivered';
      /**
       * APNs: accepted there, and not where it was asked first. To be remembered with the device.
       */
      readonly environment?: ApnsEnvironment;
    }
  /**
   * Dropped. The token is dead if it was registered before `sinceMs` (APNs 410), or before we asked
   * when null (FCM).
   */
  | { readonly kind: 'gone'; readonly reason: string; readonly sinceMs: number | null }
  /**
   * Quarantined. The provider does not take this token; the fault may be ours (another environment,
   * app or project), so the device is kept and its refusals are counted.
   */
  | {
      readonly kind: 'bad-token';
      readonly reason: string;
      /** Our own judgement of the token's form: the provider was not asked. */
      readonly isUnasked?: true;
      /**
       * It says nothing of the token (the other environment could not be asked, the message was too
       * long): no refusal to be counted.
       */
      readonly isInconclusive?: true;
    }
  /** This message is wrong for every device. */
  | {
      readonly kind: 'bad-message';
      readonly reason: string;
      /**
       * The answer does not say so: it may as well be about this device, and anybody can register a
       * thousand that are refused so.
       */
      readonly mayBeDevice?: true;
    }
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
  /** The provider failed: later. */
  | {
      readonly kind: 'unavailable';
      readonly reason: string;
      readonly retryAfterMs: number | null;
      /**
       * A refusal of credential or address, but in nobody's words: a proxy's, most likely. Only
       * several prove that it is the provider's.
       */
      readonly isWordless?: true;
    }
  /**
   * The provider never looked at it (REFUSED_STREAM, above GOAWAY's last id): retried at once
   * elsewhere, by the sender itself if it can.
   */
  | { readonly kind: 'refused'; readonly reason: string }
  /**
   * Nobody knows whether the provider accepted it (time-out, connection lost): the notification
   * says what then.
   */
  | { readonly kind: 'unknown'; readonly reason: string }
);

/** One object for all: a million sends need not allocate a million times. */
export const DELIVERED: Outcome = Object.freeze({ kind: 'delivered' });

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
