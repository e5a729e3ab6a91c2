/** Decides what an outcome means for the ledger: counted for good, or tried again and when. */

import type { Outcome } from '../../../domain/outcome.ts';
import { concernsWholeTarget, reasonOf } from '../../../domain/outcome.ts';
import type { FinalKind } from '../../../domain/progress.ts';
import type { RetryPolicy } from '../../../providers/provider.ts';
import { LOST_ON_THE_WAY } from '../../../providers/retry-policies.ts';
import type { BackoffPolicy } from '../../../std/backoff.ts';
import { backoffMs, withJitter } from '../../../std/backoff.ts';

interface FinalEnding {
  readonly kind: FinalKind;
  readonly reason: string | null;
  /** Not delivered, and the provider may have accepted it. */
  readonly isUncertain?: true;
}

export type Ending =
  | FinalEnding
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly dueInMs: number;
      readonly attempts: number;
      /** The provider took nothing, not because of this device: it may count as never sent. */
      readonly mayCountAsUnsent: boolean;
      /** The provider may have accepted it already: with the retry the device may get it twice. */
      readonly isUncertain: boolean;
    };

/**
 * Some providers document 60 seconds; no better number is known for the others.
 * @limit wait before a retry: throttled (429) without a time
 */
const THROTTLED: BackoffPolicy = { baseMs: 60_000, capMs: 900_000 };
/** @limit wait before a retry: authorization expired */
const REAUTHORIZED: BackoffPolicy = { baseMs: 1_000, capMs: 60_000 };
/**
 * A provider that names 0, or always the same short time, is not hammered: waits get longer.
 * @limit wait before a retry: a time that is named, at least
 */
const NAMED_AT_LEAST: BackoffPolicy = { baseMs: 1_000, capMs: 300_000 };

export interface SendContext {
  readonly retryPolicy: RetryPolicy;
  /** Sends tried for this device, this one included. */
  readonly attempts: number;
  readonly nowMs: number;
  /** No retry may begin after it. */
  readonly retryUntilMs: number;
  /** Whether it is the notification's expiry: then late devices are `expired`, else `failed`. */
  readonly expires: boolean;
  /** The push asked for at most once: a send whose outcome is unknown is not repeated. */
  readonly isAtMostOnce: boolean;
}

/** The ending of one send. Pure, but for the jitter. */
export function endingOf(outcome: Outcome, context: SendContext): Ending {
  if (outcome.kind === 'unknown' && context.isAtMostOnce) return outcomeUnknown(outcome.reason);
  const dueInMs = retryDelayMs(outcome, context);
  if (dueInMs === null) return finalEnding(outcome);
  const reason = reasonOf(outcome) ?? outcome.kind;
  if (context.nowMs + dueInMs >= context.retryUntilMs) {
    const ending = context.expires ? EXPIRED : failedWith(reason);
    return outcome.kind === 'unknown' ? { ...ending, isUncertain: true } : ending;
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

export const EXPIRED: FinalEnding = Object.freeze({ kind: 'expired', reason: null });
export const CANCELLED: Ending = Object.freeze({ kind: 'cancelled', reason: null });
export const SKIPPED: Ending = Object.freeze({ kind: 'skipped', reason: null });
export const ACCEPTED: Ending = Object.freeze({ kind: 'delivered', reason: null });

const finalEnding = (outcome: Outcome): FinalEnding =>
  outcome.kind === 'delivered' ? ACCEPTED : { kind: 'failed', reason: outcome.reason };

/** The ending of unsent devices when a fault stops them or their time is up. */
export const failedWith = (reason: string): FinalEnding => ({ kind: 'failed', reason });

/** At most once: it is not known whether the device got the push, and it is not sent again. */
export const outcomeUnknown = (why: string): Ending => ({
  ...failedWith(`OutcomeUnknown: ${why}`),
  isUncertain: true,
});

/** Whether the device may have the message. */
export const mayHaveArrived = (ending: Ending): boolean =>
  ending.kind === 'delivered' || ending.isUncertain === true;

/** After how many milliseconds the same send is tried again. Null: never. */
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

/** The time that the provider named is kept, with jitter. */
const named = (retryAfterMs: number | null, attempts: number): number | null =>
  retryAfterMs === null
    ? null
    : Math.max(withJitter(retryAfterMs), backoffMs(NAMED_AT_LEAST, attempts));

/** The fault that one outcome proves: no other send of its scope can be accepted. Null: none. */
export function faultIn(outcome: Outcome): string | null {
  if (outcome.isOneHost) return null;
  switch (outcome.kind) {
    case 'bad-message':
      return outcome.mayBeDevice ? null : outcome.reason;
    case 'bad-credential':
      return outcome.isDoubted ? null : outcome.reason;
    default:
      return null;
  }
}
