/** What an outcome means for the ledger: counted for good, or tried again and when. */

import { PLATFORM_FCM } from '../domain/device.ts';
import type { Outcome } from '../domain/outcome.ts';
import { concernsWholeTarget, reasonOf } from '../domain/outcome.ts';
import type { FinalKind } from '../domain/progress.ts';
import type { BackoffPolicy } from '../std/backoff.ts';
import { backoffMs, withJitter } from '../std/backoff.ts';

export type Ending =
  | { readonly kind: FinalKind; readonly reason: string | null }
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly dueInMs: number;
      readonly attempts: number;
      /** Nothing was accepted, and it was nothing about this device: it may as well count as never sent. */
      readonly mayCountAsUnsent: boolean;
    };

/** The provider never looked at it, or nobody knows: most likely one connection's trouble, over in a moment. */
const LOST_ON_THE_WAY: BackoffPolicy = { baseMs: 1_000, capMs: 60_000 };
/** The provider failed. Apple and Google ask for exponential backoff. */
const PROVIDER_FAILED: BackoffPolicy = { baseMs: 2_000, capMs: 300_000 };
/** FCM: "wait at least 10 seconds before retrying"; senders that do not are put on a deny list. */
const FCM_FAILED: BackoffPolicy = { baseMs: 10_000, capMs: 300_000 };
/** FCM: a 429 without Retry-After means 60 seconds; no better number is known for APNs. */
const THROTTLED: BackoffPolicy = { baseMs: 60_000, capMs: 300_000 };
/** The fresh authorization is on its way from the main thread. */
const REAUTHORIZED: BackoffPolicy = { baseMs: 1_000, capMs: 60_000 };

export interface SendContext {
  readonly platformId: number;
  /** Sends tried, this one included. */
  readonly attempts: number;
  readonly nowMs: number;
  /** No retry may begin after it. */
  readonly retryUntilMs: number;
  /** Whether that is the notification's own expiry: then what is late is `expired`, else `failed`. */
  readonly expires: boolean;
}

/** The ending of one send. Pure, but for the jitter. */
export function endingOf(outcome: Outcome, context: SendContext): Ending {
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
  };
}

export const EXPIRED: Ending = Object.freeze({ kind: 'expired', reason: null });
export const CANCELLED: Ending = Object.freeze({ kind: 'cancelled', reason: null });
export const SKIPPED: Ending = Object.freeze({ kind: 'skipped', reason: null });
const ACCEPTED: Ending = Object.freeze({ kind: 'delivered', reason: null });

const finalEnding = (outcome: Outcome): Ending =>
  outcome.kind === 'delivered' ? ACCEPTED : { kind: 'failed', reason: outcome.reason };

/** What has not been sent ends so when a fault stops it or time is up. */
export const failedWith = (reason: string): Ending => ({ kind: 'failed', reason });

/** When the same send should be tried again; null: never. */
function retryDelayMs(outcome: Outcome, { platformId, attempts }: SendContext): number | null {
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
      return named(outcome.retryAfterMs) ?? backoffMs(THROTTLED, attempts);
    case 'unavailable':
      return (
        named(outcome.retryAfterMs) ??
        backoffMs(platformId === PLATFORM_FCM ? FCM_FAILED : PROVIDER_FAILED, attempts)
      );
    case 'refused':
    case 'unknown':
      return backoffMs(LOST_ON_THE_WAY, attempts);
  }
}

/** A time that the provider named is kept, and spread. */
const named = (retryAfterMs: number | null): number | null =>
  retryAfterMs === null ? null : withJitter(retryAfterMs);

/** The fault that an outcome proves: nothing else in its scope can be accepted. Null: none. */
export const faultIn = (outcome: Outcome): string | null =>
  (outcome.kind === 'bad-message' || outcome.kind === 'bad-credential') && !outcome.isOneHost
    ? outcome.reason
    : null;
