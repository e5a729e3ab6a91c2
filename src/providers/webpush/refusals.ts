/**
 * Refusals of our key or of one message by one push service. Anybody can register subscriptions
 * that are refused so: most later sends become retries, while a few are tried.
 */

import type { Outcome } from '../../domain/outcome.ts';
import { reasonOf } from '../../domain/outcome.ts';
import { REFUSALS_IN_A_ROW, REFUSED_FOR_MS, TRIES_WHILE_REFUSED } from './settings.ts';

export class Refusals {
  #reason = '';
  #inARow = 0;
  #pausedUntilMs = 0;
  #triesLeft = 0;

  refused(outcome: Outcome, nowMs: number): void {
    this.#reason = reasonOf(outcome) ?? outcome.kind;
    this.#inARow += 1;
    if (this.#inARow !== REFUSALS_IN_A_ROW) return;
    this.#pausedUntilMs = nowMs + REFUSED_FOR_MS;
    this.#triesLeft = 0;
  }

  accepted(): void {
    this.#inARow = 0;
  }

  /** The outcome of a send that is not tried now. Null: it may be tried. */
  outcome(nowMs: number): Outcome | null {
    if (this.#inARow < REFUSALS_IN_A_ROW) return null;
    if (nowMs >= this.#pausedUntilMs) {
      this.#pausedUntilMs = nowMs + REFUSED_FOR_MS;
      this.#triesLeft = TRIES_WHILE_REFUSED;
    }
    if (this.#triesLeft > 0) {
      this.#triesLeft -= 1;
      return null;
    }
    return { kind: 'unavailable', reason: this.#reason, retryAfterMs: null, isOneHost: true };
  }
}
