/**
 * Limits the requests under way at one provider once it shows overload, as TCP does (RFC 5681): one
 * cut at most for all requests under way, and slow growth. A few failures are no sign: a 500 in
 * every hundredth answer would bring a thousand requests down to a few dozen.
 */

import type { Outcome } from '../../domain/outcome.ts';
import type { Latency } from './latency.ts';

/** @limit share of answers that show overload → fewer requests are under way */
const SIGNS_SHARE_MAX = 0.1;
/** Answers judged together, at least: the first after a cut belong to requests from before it. */
const WINDOW_MIN = 64;
/** @limit share of the requests under way that is left then → sends wait */
const CUT = 0.7;
/** The factor of growth for each good window. */
const GAIN = 1.125;
/** @limit requests under way that are left at least */
const LIMIT_MIN = 8;
/** Answers so much slower than the quickest one wait in a queue of the provider. */
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
      // A limit that the requests come nowhere near is removed.
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

/** A 429 for the whole credential, or a 5xx. */
const isSignOfOverload = ({ kind }: Outcome): boolean =>
  kind === 'throttled-target' || kind === 'unavailable';
