/**
 * The circuit breaker: whether a provider works for one credential, as one worker sees it. When it
 * fails for everyone, further sends would turn a million devices into a million retries. So the
 * breaker stops all chunks, waits, and then lets a few sends probe.
 *
 *   works ──256 failures in a row──► stopped ──wait over──► probing ──an answer that works──► works
 *                                       ▲                      └──one more failure──┐
 *                                       └───────────────────────────────────────────┘ (a longer wait)
 */

import type { Outcome } from '../../domain/outcome.ts';
import { reasonOf } from '../../domain/outcome.ts';
import type { BackoffPolicy } from '../../std/backoff.ts';
import { backoffMs } from '../../std/backoff.ts';
import type { Clock } from '../../std/clock.ts';
import { Signal } from '../../std/signal.ts';

/** Two blocks: more than chance or the loss of a few streams, less than a device group. */
export const FAILURES_IN_A_ROW_MAX = 256;
/**
 * Where the provider itself did not say that it fails, all sends must fail for so long at least.
 * All streams of a lost connection fail in one moment, a thousand at some providers; the next
 * connection shows within some round trips whether only that one was lost.
 */
export const LOST_FOR_MS = 2_000;
/** Sends that probe a provider which has just failed for everyone. */
export const PROBES_MAX = 8;
/** Equal refusals without the provider's words, with no success in between, that make a fault … */
export const WORDLESS_REFUSALS = 8;
/** … if the first was so long ago: a proxy that reloads refuses hundreds of sends at once. */
export const WORDLESS_FOR_MS = 60_000;
/** The same pace as a single device's retries (providers/retry-policies.ts). */
const STOPPED: BackoffPolicy = { baseMs: 2_000, capMs: 300_000 };

export class CircuitBreaker {
  /** Fires when sends are stopped and when a probe was answered: waiting tasks look again. */
  readonly changed = new Signal();
  /** Fires when the breaker opens, each time a probe has failed, and when it closes. */
  readonly switched = new Signal();
  /** The last reason for which it failed. */
  lastReason = 'Unavailable';
  private readonly clock: Clock;
  private failuresInARow = 0;
  /** When the first of them came. */
  private failingSinceMs = 0;
  private stops = 0;
  private stoppedUntilMs = 0;
  private inFlight = 0;
  private wordless: WordlessRefusals | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Whether the provider fails for everyone, so that nothing but probes is sent. */
  get isOpen(): boolean {
    return this.stops > 0;
  }

  /** How long nothing may be sent. 0: sends may start now. */
  get stoppedForMs(): number {
    // Read before every send: while the provider works, the clock need not be read.
    if (this.stops === 0) return 0;
    return Math.max(0, this.stoppedUntilMs - this.clock.monotonicMs());
  }

  /** Whether one more send may start now. */
  get admits(): boolean {
    return this.stops === 0 || this.inFlight < PROBES_MAX;
  }

  /** The reason of enough refusals without the provider's own words. Null: they prove no fault. */
  get wordlessFault(): string | null {
    if (this.wordless === null || this.wordless.count < WORDLESS_REFUSALS) return null;
    const { reason, sinceMs } = this.wordless;
    return this.clock.monotonicMs() - sinceMs >= WORDLESS_FOR_MS ? reason : null;
  }

  sent(): void {
    this.inFlight += 1;
  }

  settled(outcome: Outcome): void {
    this.inFlight -= 1;
    const isProbe = this.stops > 0;
    switch (healthIn(outcome)) {
      case 'works':
        this.failuresInARow = 0;
        this.wordless = null;
        this.stops = 0;
        this.stoppedUntilMs = 0;
        if (isProbe) this.switched.fire();
        break;
      case 'fails':
        this.failed(outcome);
        break;
      case 'says-nothing':
        break;
    }
    if (isProbe) this.changed.fire();
  }

  private failed(outcome: Outcome): void {
    if (outcome.kind === 'unavailable' && outcome.isWordless) this.heardWordless(outcome.reason);
    if (this.failuresInARow === 0) this.failingSinceMs = this.clock.monotonicMs();
    this.failuresInARow += 1;
    if (this.failuresInARow < FAILURES_IN_A_ROW_MAX) return;
    if (isLost(outcome) && this.clock.monotonicMs() - this.failingSinceMs < LOST_FOR_MS) return;
    this.stop(reasonOf(outcome) ?? outcome.kind, retryAfterMsOf(outcome));
  }

  private heardWordless(reason: string): void {
    if (this.wordless?.reason === reason) this.wordless.count += 1;
    else this.wordless = { reason, count: 1, sinceMs: this.clock.monotonicMs() };
  }

  /**
   * The provider fails for everyone: also called when no connection can be made. No effect while
   * sends are stopped already.
   */
  stop(reason: string, atLeastMs: number): void {
    if (this.stoppedForMs > 0) return;
    this.lastReason = reason;
    this.stops += 1;
    this.failuresInARow = FAILURES_IN_A_ROW_MAX;
    this.stoppedUntilMs =
      this.clock.monotonicMs() + Math.max(atLeastMs, backoffMs(STOPPED, this.stops));
    this.changed.fire();
    this.switched.fire();
  }
}

interface WordlessRefusals {
  readonly reason: string;
  count: number;
  /** When the first of them came. */
  readonly sinceMs: number;
}

/** Whether an outcome shows that the provider works, that it fails, or neither. */
function healthIn(outcome: Outcome): 'works' | 'fails' | 'says-nothing' {
  if (outcome.isOneHost) return 'says-nothing';
  switch (outcome.kind) {
    case 'delivered':
    case 'gone':
    case 'throttled-device':
      return 'works';
    case 'bad-token':
      return outcome.isUnasked ? 'says-nothing' : 'works';
    case 'bad-message':
    case 'bad-credential':
      return 'says-nothing';
    case 'expired-authorization':
    case 'throttled-target':
    case 'unavailable':
    case 'refused':
    case 'unknown':
      return 'fails';
  }
}

/** Whether the provider gave no answer. */
const isLost = ({ kind }: Outcome): boolean => kind === 'unknown' || kind === 'refused';

const retryAfterMsOf = (outcome: Outcome): number =>
  'retryAfterMs' in outcome ? (outcome.retryAfterMs ?? 0) : 0;
