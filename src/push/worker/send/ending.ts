/** What an outcome means for the ledger: counted for good, or tried again and when. */

import type { Outcome } from '../../../domain/outcome.ts';
import { concernsWholeTarget, reasonOf } from '../../../domain/outcome.ts';
import type { FinalKind } from '../../../domain/progress.ts';
import type { RetryPolicy } from '../../../providers/provider.ts';
import { LOST_ON_THE_WAY } from '../../../providers/retry-policies.ts';
import type { BackoffPolicy } from '../../../std/backoff.ts';
import { backoffMs, withJitter } from '../../../std/backoff.ts';

export type Ending =
  | { readonly kind: FinalKind; readonly reason: string | null }
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly dueInMs: number;
      readonly attempts: number;
      /**
       * Nothing was accepted, and it was nothing about this device: it may as well count as never
       * sent.
       */
      readonly mayCountAsUnsent: boolean;
      /** It may have been accepted already: sent again, the device may get it twice. */
      readonly isUncertain: boolean;
    };

/**
 * A 429 without a time means 60 seconds where a provider says anything of it; no better number is
 * known for the others.
 */
const THROTTLED: BackoffPolicy = { baseMs: 60_000, capMs: 900_000 };
/** The fresh authorization is on its way from the main thread. */
const REAUTHORIZED: BackoffPolicy = { baseMs: 1_000, capMs: 60_000 };
/**
 * A provider that names no time at all, or always the same short one, is not hammered: every
 * refusal waits longer.
 */
const NAMED_AT_LEAST: BackoffPolicy = { baseMs: 1_000, capMs: 300_000 };

export interface SendContext {
  readonly retryPolicy: RetryPolicy;
  /** Sends tried, this one included. */
  readonly attempts: number;
  readonly nowMs: number;
  /** No retry may begin after it. */
  readonly retryUntilMs: number;
  /**
   * Whether that is the notification's own expiry: then what is late is `expired`, else `failed`.
   */
  readonly expires: boolean;
  /** The push asked for no more than one try of which the end is not known. */
  readonly isAtMostOnce: boolean;
}

/** The ending of one send. Pure, but for the jitter. */
export function endingOf(outcome: Outcome, context: SendContext): Ending {
  if (outcome.kind === 'unknown' && context.isAtMostOnce) return outcomeUnknown(outcome.reason);
  const dueInMs = retryDelayMs(outcome, context);
  if (dueInMs === null) return finalEnding(outcome);
  const reason = reasonOf(outcome) ?? outcome.kind;
  if (context.nowMs + dueInMs >= context.retryUntilMs) {
    return context.expires ? EXPIRED : { kind: 'failed', reason };
  }
  return {
    kind: 'retry',
    reason,
    dueInMs,
    attempts: context.attempts,
    mayCountAsUnsent: outcome.kind !== 'unknown' && concernsWholeTarget(outcome),
    isUncertain: outcome.kind === 'unknown',
  };
}

export const EXPIRED: Ending = Object.freeze({ kind: 'expired', reason: null });
export const CANCELLED: Ending = Object.freeze({ kind: 'cancelled', reason: null });
export const SKIPPED: Ending = Object.freeze({ kind: 'skipped', reason: null });
export const ACCEPTED: Ending = Object.freeze({ kind: 'delivered', reason: null });

const finalEnding = (outcome: Outcome): Ending =>
  outcome.kind === 'delivered' ? ACCEPTED : { kind: 'failed', reason: outcome.reason };

/** What has not been sent ends so when a fault stops it or time is up. */
export const failedWith = (reason: string): Ending => ({ kind: 'failed', reason });

/** At most once: nobody knows whether the device has it, and it is not sent again to find out. */
export const outcomeUnknown = (why: string): Ending => failedWith(`OutcomeUnknown: ${why}`);

/** When the same send should be tried again; null: never. */
function retryDelayMs(outcome: Outcome, { retryPolicy, attempts }: SendContext): number | null {
  switch (outcome.kind) {
    case 'delivered':
    case 'gone':
    case 'bad-token':
    case 'bad-message':
    case 'bad-credential':
      return null;
    case 'expired-authorization':
      return backoffMs(REAUTHORIZED, attempts);
    case 'throttled-device':
    case 'throttled-target':
      return named(outcome.retryAfterMs, attempts) ?? backoffMs(THROTTLED, attempts);
    case 'unavailable':
      return named(outcome.retryAfterMs, attempts) ?? backoffMs(retryPolicy.failed, attempts);
    case 'refused':
      return backoffMs(LOST_ON_THE_WAY, attempts);
    case 'unknown':
      return backoffMs(retryPolicy.unknown, attempts);
  }
}

/** A time that the provider named is kept, and spread. */
const named = (retryAfterMs: number | null, attempts: number): number | null =>
  retryAfterMs === null
    ? null
    : Math.max(withJitter(retryAfterMs), backoffMs(NAMED_AT_LEAST, attempts));

/** The fault that one outcome proves: nothing else in its scope can be accepted. Null: none. */
export function faultIn(outcome: Outcome): string | null {
  if (outcome.isOneHost) return null;
  switch (outcome.kind) {
    case 'bad-message':
      return outcome.mayBeDevice ? null : outcome.reason;
    case 'bad-credential':
      return outcome.reason;
    default:
      return null;
  }
}
