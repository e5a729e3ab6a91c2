/**
 * How many requests may be under way at one provider, over all connections. Unlimited until it shows signs of overload; then as TCP
 * treats congestion (RFC 5681): a cut, at most one for all that is under way, and a slow way back. Unlike TCP's a single sign is
 * none: a provider that answers 1 % with 5xx does so at any pace, and cutting for each would end at the least limit there is.
 */

import type { Outcome } from '../../domain/outcome.ts';
import type { Latency } from './latency.ts';

/** So large a share of the answers says that it is the load … */
const OVERLOADED_SHARE_MIN = 0.1;
/** … of the last hundred or so; of overload alone it takes 14 in a row. */
const WEIGHT = 1 / 128;
/** What is left of it after a sign of overload … */
const CUT = 0.7;
/** … and what each limit's worth of good answers adds. */
const GAIN = 1.125;
/** Fewer would say nothing of how the provider does. */
const LIMIT_MIN = 8;
/** Answers this many times slower than the quickest one, and by at least this much, are queueing at the provider. */
const SLOW_FACTOR = 4;
const SLOW_BY_MS = 1_000;

export class ConcurrencyLimit {
  #underWay = 0;
  #limit = Number.POSITIVE_INFINITY;
  readonly #latency: Latency;
  /** Ends still to come of what was under way at the last cut, which say nothing new. */
  #recovering = 0;
  #goodAnswers = 0;
  #overloadedShare = 0;

  constructor(latency: Latency) {
    this.#latency = latency;
  }

  get free(): number {
    return Math.max(0, this.#limit - this.#underWay);
  }

  get limit(): number {
    return this.#limit;
  }

  started(): void {
    this.#underWay += 1;
  }

  /** It ended without an answer. */
  failed(): void {
    this.#underWay -= 1;
    if (this.#recovering > 0) this.#recovering -= 1;
  }

  answered(outcome: Outcome): void {
    this.#underWay -= 1;
    if (this.#recovering > 0) {
      this.#recovering -= 1;
      return;
    }
    const isOverloaded = isOverload(outcome);
    this.#overloadedShare += (Number(isOverloaded) - this.#overloadedShare) * WEIGHT;
    if (this.#overloadedShare >= OVERLOADED_SHARE_MIN || this.#isSlow()) this.#cut();
    else if (!isOverloaded && this.#limit !== Number.POSITIVE_INFINITY) this.#gain();
  }

  #cut(): void {
    this.#recovering = this.#underWay;
    this.#goodAnswers = 0;
    this.#overloadedShare = 0;
    this.#limit = Math.max(LIMIT_MIN, Math.floor(this.#underWay * CUT));
  }

  #gain(): void {
    this.#goodAnswers += 1;
    if (this.#goodAnswers < this.#limit) return;
    this.#goodAnswers = 0;
    // A limit that nothing comes near to is none.
    const isBinding = this.#underWay * 2 > this.#limit;
    this.#limit = isBinding ? Math.ceil(this.#limit * GAIN) : Number.POSITIVE_INFINITY;
  }

  #isSlow(): boolean {
    const { meanMs, roundTripMs } = this.#latency;
    return meanMs > roundTripMs * SLOW_FACTOR && meanMs > roundTripMs + SLOW_BY_MS;
  }
}

/** 429 for the whole credential, and 5xx. */
const isOverload = ({ kind }: Outcome): boolean =>
  kind === 'throttled-target' || kind === 'unavailable';
