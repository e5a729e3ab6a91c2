/**
 * The permits of one task in its worker: sends of a quota that it may still start. It asks the main
 * thread (push/dispatch/quota-leaser.ts) for more before they run out; unused ones go back.
 */

import type { Outcome } from '../../domain/outcome.ts';
import type { Clock } from '../../std/clock.ts';
import { Signal } from '../../std/signal.ts';

/**
 * Permits of the first request: enough for a small task. Each further one asks for double.
 * @limit permits of a task's first request
 */
const WANTED_FIRST = 32;
/**
 * Some milliseconds of one thread's work, so that the answer comes before they are used up.
 * @limit permits of a task's request, doubling up to → the next draw
 */
const WANTED_MAX = 1_024;

export type QuotaMessage =
  | { readonly kind: 'wanted'; readonly permits: number }
  | { readonly kind: 'unused'; readonly permits: number }
  /** The provider refused a send because of the quota, and said how long to wait. */
  | { readonly kind: 'exceeded'; readonly forMs: number };

/** From the main thread to a task: permits that are valid for a while, or how long to wait. */
export type QuotaAnswer =
  | { readonly kind: 'granted'; readonly permits: number; readonly forMs: number }
  | { readonly kind: 'wait'; readonly forMs: number };

export class Permits {
  readonly changed = new Signal();
  private readonly clock: Clock;
  private readonly say: (message: QuotaMessage) => void;
  private left = 0;
  private validUntilMs = 0;
  private stoppedUntilMs = 0;
  private wanted = WANTED_FIRST;
  private isAsked = false;

  constructor(clock: Clock, say: (message: QuotaMessage) => void) {
    this.clock = clock;
    this.say = say;
  }

  /** Whether one more send may start now. Asks for more permits when few are left. */
  get admits(): boolean {
    if (this.left > 0 && this.clock.monotonicMs() >= this.validUntilMs) this.left = 0;
    if (this.left * 2 <= this.wanted) this.ask();
    return this.left > 0;
  }

  /** How long the project may send nothing; its tasks give their rest back for it. 0: it may. */
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
      // The provider counts no 429 (internals/providers.md), and no request left unprocessed.
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
    // All sends under way are refused for the same reason: the first one is enough.
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
