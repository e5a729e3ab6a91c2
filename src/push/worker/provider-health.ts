/**
 * Whether a provider works for one credential, as one worker sees it. When it fails for everyone,
 * sending on would turn a million devices into a million retries: so it stops all chunks, waits,
 * and then lets a few sends probe.
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

/** Two blocks: more than chance or one lost connection of a few streams, less than a group. */
export const FAILURES_IN_A_ROW_MAX = 256;
/**
 * For so long at least nothing but failures, where the provider did not say that it fails: all
 * streams of one connection are lost in one moment, a thousand at some providers, and the next
 * connection shows within some round trips that it was the only one.
 */
export const LOST_FOR_MS = 2_000;
/** Sends that probe a provider which has just failed for everyone. */
export const PROBES_MAX = 8;
/**
 * Refusals without the provider's own words, alike and with nothing good between them, that make a
 * fault …
 */
export const WORDLESS_REFUSALS = 8;
/**
 * … if the first of them was so long ago: a proxy that is reloaded answers hundreds of sends at
 * once.
 */
export const WORDLESS_FOR_MS = 60_000;
/** The same pace as a single device's retries (ending.ts). */
const STOPPED: BackoffPolicy = { baseMs: 2_000, capMs: 300_000 };

export class ProviderHealth {
  /** Fires when it stops and when a probe has been answered: those that wait to send look again. */
  readonly changed = new Signal();
  /** Fires when the circuit opens, each time a probe has failed, and when it closes. */
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

  /** It fails for everyone, and nothing but probes is sent. */
  get isOpen(): boolean {
    return this.stops > 0;
  }

  /** How long nothing may be sent; 0: now. */
  get stoppedForMs(): number {
    // Asked before every send: while it works the clock need not be read.
    if (this.stops === 0) return 0;
    return Math.max(0, this.stoppedUntilMs - this.clock.monotonicMs());
  }

  /** Whether one more send may start now. */
  get admits(): boolean {
    return this.stops === 0 || this.inFlight < PROBES_MAX;
  }

  /**
   * What the provider, or whoever answers in its place, says to everybody without words; null:
   * nothing that is to be believed.
   */
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
   * It fails for everyone: also called when no connection comes about. While stopped already,
   * nothing is added.
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

/** Whether a provider that answers so works, fails for everyone, or tells us nothing of that. */
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

/** Without the provider's word. */
const isLost = ({ kind }: Outcome): boolean => kind === 'unknown' || kind === 'refused';

const retryAfterMsOf = (outcome: Outcome): number =>
  'retryAfterMs' in outcome ? (outcome.retryAfterMs ?? 0) : 0;
