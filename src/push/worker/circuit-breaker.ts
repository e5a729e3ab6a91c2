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
import { TurnClock } from '../../std/turn-clock.ts';

/**
 * Two blocks: more than chance or the loss of a few streams, less than a device group.
 * @limit failures in a row until a provider counts as failing for everyone, per thread and
 * credential → chunks are given back for 2 s, doubling to 5 min; then it is probed
 */
export const FAILURES_IN_A_ROW_MAX = 256;
/**
 * All streams of a lost connection fail in one moment; the next shows whether only it was lost.
 * @limit time that they take at least, where the provider did not say so itself → until then sends
 * go on
 */
export const LOST_FOR_MS = 2_000;
/** @limit sends that probe a provider */
export const PROBES_MAX = 8;
/**
 * Equal refusals that prove nothing alone (without the provider's words, or of a credential that
 * works otherwise), with no success in between, that make a fault …
 * @limit refusals without the provider's own words (a proxy's 401, 403, 404), or of a credential
 * that was accepted lately, alike, with nothing good between, until they are a fault → the scope is
 * stopped
 */
export const REFUSALS_ALIKE = 8;
/**
 * … if the first was so long ago: a proxy that reloads refuses hundreds at once.
 * @limit time that refusals alike take at least, until they are a fault → until then they are tried
 * again
 */
export const REFUSALS_ALIKE_FOR_MS = 60_000;
/**
 * A key that is revoked later is found by the first answer.
 * @limit a credential that was accepted within this time is not refused by one answer → refusals
 * alike stop the scope; until then the circuit is open: a first refusal ends its device, further
 * ones are tried again
 */
const ACCEPTED_LATELY_MS = 10 * 60_000;
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
  /** For what every accepted send notes. */
  private readonly turnClock: TurnClock;
  private acceptedAtMs = Number.NEGATIVE_INFINITY;
  private failuresInARow = 0;
  /** When the first of them came. */
  private failingSinceMs = 0;
  private stops = 0;
  private stoppedUntilMs = 0;
  private inFlight = 0;
  private refusals: RefusalsAlike | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
    this.turnClock = new TurnClock(() => clock.monotonicMs());
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

  get wasAcceptedLately(): boolean {
    return this.clock.monotonicMs() - this.acceptedAtMs < ACCEPTED_LATELY_MS;
  }

  /** The reason of enough equal refusals. Null: they prove no fault. */
  get provenFault(): string | null {
    if (this.refusals === null || this.refusals.count < REFUSALS_ALIKE) return null;
    const { reason, sinceMs } = this.refusals;
    return this.clock.monotonicMs() - sinceMs >= REFUSALS_ALIKE_FOR_MS ? reason : null;
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
        this.acceptedAtMs = this.turnClock.nowMs();
        this.refusals = null;
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
    if (outcome.kind === 'unavailable' && outcome.isWordless) this.heardRefusal(outcome.reason);
    if (this.failuresInARow === 0) this.failingSinceMs = this.clock.monotonicMs();
    this.failuresInARow += 1;
    if (this.failuresInARow < FAILURES_IN_A_ROW_MAX) return;
    if (isLost(outcome) && this.clock.monotonicMs() - this.failingSinceMs < LOST_FOR_MS) return;
    this.stop(reasonOf(outcome) ?? outcome.kind, retryAfterMsOf(outcome));
  }

  /** Stops all sends until a probe is answered; enough refusals alike prove a fault. */
  refused(reason: string): void {
    this.heardRefusal(reason);
    if (this.provenFault === null) this.stop(reason, 0);
  }

  private heardRefusal(reason: string): void {
    if (this.refusals?.reason === reason) this.refusals.count += 1;
    else this.refusals = { reason, count: 1, sinceMs: this.clock.monotonicMs() };
  }

  /** Also called when no connection can be made. No effect while sends are stopped. */
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

interface RefusalsAlike {
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
    case 'throttled-device':
      return 'works';
    case 'gone':
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
