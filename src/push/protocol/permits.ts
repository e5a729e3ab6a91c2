/**
 * What one task may send of its project's quota, in its worker: a number that each send lowers.
 * More is asked of the main thread (push/dispatch/quota-desk.ts) before it has run out; what is not
 * used in time, or when the task ends, is worth nothing or goes back.
 */

import type { Outcome } from '../../domain/outcome.ts';
import type { Clock } from '../../std/clock.ts';
import { Signal } from '../../std/signal.ts';

/** The first question: a small task needs no more. Each further one asks for twice as many. */
const WANTED_FIRST = 32;
/** Some milliseconds of one thread's work, so that the answer is there before they are used. */
const WANTED_MAX = 1_024;

/** Up: what a task says of its quota. */
export type QuotaNote =
  | { readonly kind: 'wanted'; readonly permits: number }
  | { readonly kind: 'unused'; readonly permits: number }
  /** The provider has refused for the quota, and said how long to wait. */
  | { readonly kind: 'exceeded'; readonly forMs: number };

/** Down: permits that are good for a while, or how long there are none. */
export type QuotaAnswer =
  | { readonly kind: 'granted'; readonly permits: number; readonly forMs: number }
  | { readonly kind: 'wait'; readonly forMs: number };

export class Permits {
  /** Fires with every answer. */
  readonly changed = new Signal();
  private readonly clock: Clock;
  private readonly say: (note: QuotaNote) => void;
  private left = 0;
  private validUntilMs = 0;
  private stoppedUntilMs = 0;
  private wanted = WANTED_FIRST;
  private isAsked = false;

  constructor(clock: Clock, say: (note: QuotaNote) => void) {
    this.clock = clock;
    this.say = say;
  }

  /** Whether one more send may start now. Asks for more when it is time. */
  get admits(): boolean {
    if (this.left > 0 && this.clock.monotonicMs() >= this.validUntilMs) this.left = 0;
    if (this.left * 2 <= this.wanted) this.ask();
    return this.left > 0;
  }

  /** How long the project may send nothing: worth giving the rest back for; 0: it may. */
  get stoppedForMs(): number {
    if (this.stoppedUntilMs === 0) return 0;
    return Math.max(0, this.stoppedUntilMs - this.clock.monotonicMs());
  }

  take(): void {
    this.left -= 1;
  }

  settled(outcome: Outcome): void {
    switch (outcome.kind) {
      case 'throttled-target':
        this.left += 1;
        this.exceeded(outcome.retryAfterMs ?? 0);
        break;
      // A 429 is not counted (facts, 2.4), nor is what the provider never looked at.
      case 'throttled-device':
      case 'refused':
        this.left += 1;
        break;
      case 'delivered':
      case 'gone':
      case 'bad-token':
      case 'bad-message':
      case 'bad-credential':
      case 'expired-authorization':
      case 'unavailable':
      case 'unknown':
        break;
    }
  }

  hear(answer: QuotaAnswer): void {
    this.isAsked = false;
    switch (answer.kind) {
      case 'granted':
        this.left += answer.permits;
        this.validUntilMs = this.clock.monotonicMs() + answer.forMs;
        this.wanted = Math.min(WANTED_MAX, this.wanted * 2);
        break;
      case 'wait':
        this.stop(answer.forMs);
        break;
    }
    this.changed.fire();
  }

  /** The task has ended. */
  close(): void {
    if (this.left > 0) this.say({ kind: 'unused', permits: this.left });
    this.left = 0;
  }

  private ask(): void {
    if (this.isAsked || this.stoppedForMs > 0) return;
    this.isAsked = true;
    this.say({ kind: 'wanted', permits: this.wanted });
  }

  private exceeded(forMs: number): void {
    // All sends under way are refused for the same reason: the first one tells.
    if (forMs <= this.stoppedForMs + 1_000) return;
    this.stop(forMs);
    this.say({ kind: 'exceeded', forMs });
    this.changed.fire();
  }

  private stop(forMs: number): void {
    this.stoppedUntilMs = Math.max(this.stoppedUntilMs, this.clock.monotonicMs() + forMs);
    if (this.left > 0) this.say({ kind: 'unused', permits: this.left });
    this.left = 0;
  }
}
