/**
 * How many requests may be under way at one provider, over all connections. Unlimited until it
 * shows signs of overload; then as TCP treats congestion (RFC 5681): a cut, at most one for all
 * that is under way, and a slow way back. A few failures are no sign: a cut for each would bring a
 * thousand requests down to a few dozen, because one answer of a hundred is a 500.
 */

import type { Outcome } from '../../domain/outcome.ts';
import type { Latency } from './latency.ts';

/** More of the answers than this have to be signs of overload. */
const SIGNS_SHARE_MAX = 0.1;
/**
 * Answers that are judged together, at least; as many as were under way, if they were more: what
 * follows a cut is another's answer.
 */
const WINDOW_MIN = 64;
/** What is left of it after a cut … */
const CUT = 0.7;
/** … and what each good window adds. */
const GAIN = 1.125;
/** Fewer would say nothing of how the provider does. */
const LIMIT_MIN = 8;
/**
 * Answers this many times slower than the quickest one, and by at least this much, are queueing at
 * the provider.
 */
const SLOW_FACTOR = 4;
const SLOW_BY_MS = 1_000;

export class ConcurrencyLimit {
  #underWay = 0;
  #limit = Number.POSITIVE_INFINITY;
  readonly #latency: Latency;
  #window = WINDOW_MIN;
  #answers = 0;
  #signs = 0;
  #underWayMax = 0;

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
    if (this.#underWay > this.#underWayMax) this.#underWayMax = this.#underWay;
  }

  /** It ended without an answer. */
  failed(): void {
    this.#underWay -= 1;
  }

  answered(outcome: Outcome): void {
    this.#underWay -= 1;
    this.#answers += 1;
    if (isSignOfOverload(outcome)) this.#signs += 1;
    if (this.#answers >= this.#window) this.#judge();
  }

  #judge(): void {
    const isOverloaded = this.#signs > this.#answers * SIGNS_SHARE_MAX || this.#isSlow();
    if (isOverloaded) {
      this.#limit = Math.max(LIMIT_MIN, Math.floor(this.#underWayMax * CUT));
    } else if (this.#limit !== Number.POSITIVE_INFINITY) {
      // A limit that nothing comes near to is none.
      const isBinding = this.#underWayMax * 2 > this.#limit;
      this.#limit = isBinding ? Math.ceil(this.#limit * GAIN) : Number.POSITIVE_INFINITY;
    }
    this.#answers = 0;
    this.#signs = 0;
    this.#window = Math.max(WINDOW_MIN, this.#underWay);
    this.#underWayMax = this.#underWay;
  }

  #isSlow(): boolean {
    const { meanMs, roundTripMs } = this.#latency;
    return meanMs > roundTripMs * SLOW_FACTOR && meanMs > roundTripMs + SLOW_BY_MS;
  }
}

/** 429 for the whole credential, and 5xx. */
const isSignOfOverload = ({ kind }: Outcome): boolean =>
  kind === 'throttled-target' || kind === 'unavailable';
