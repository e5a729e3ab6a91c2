/**
 * The Redis breaker: keeps callers away from a Redis that fails or hangs. They have the database,
 * and must not wait a second for each of a thousand groups.
 */

import { Seldom } from '../../../packages/std/src/seldom.ts';
import type { Clock } from '../../std/clock.ts';
import { within } from '../../std/within.ts';

/**
 * Time for a few commands, each of which has a second. A caller that waits longer waits for a
 * connection that does not come.
 * @limit all of one question to Redis → the circuit opens
 */
const ASK_MS_MAX = 3_000;
const LATE = Symbol('late');
/**
 * Time until Redis is tried again, by one caller at first.
 * @limit Redis is left alone after a failure → one caller tries again
 */
const PAUSE_MS = 1_000;
/**
 * Redis answers, but does not write: it is full (maxmemory), cannot save, or lacks the replicas
 * that its settings demand. Reads go on.
 */
const WRITE_REFUSED = /^(?:OOM|MISCONF|NOREPLICAS) /;
/**
 * A line for each refused change would flood the log.
 * @limit between log lines about a refusal of Redis to write
 */
const REFUSAL_TOLD_EVERY_MS = 60_000;

interface RedisBreakerOptions {
  readonly clock: Clock;
  /**
   * Called with the error when callers are kept away from Redis, with null when they are let
   * through again.
   */
  readonly onChange: (error: unknown) => void;
  /** Called when Redis refuses writes, but answers reads. */
  readonly onRefusal: (error: Error) => void;
}

export class RedisBreaker {
  readonly #options: RedisBreakerOptions;
  #openUntilMs: number | null = null;
  #isTrying = false;
  readonly #refusals: Seldom;

  constructor(options: RedisBreakerOptions) {
    this.#options = options;
    this.#refusals = new Seldom(REFUSAL_TOLD_EVERY_MS, () => options.clock.monotonicMs());
  }

  get isOpen(): boolean {
    return this.#openUntilMs !== null;
  }

  /** Answers the result of `ask`; null: Redis was not asked, or has failed. */
  async run<T>(ask: () => Promise<T>): Promise<T | null> {
    const { clock } = this.#options;
    const openUntilMs = this.#openUntilMs;
    if (openUntilMs === null) return this.#ask(ask);
    if (this.#isTrying || clock.monotonicMs() < openUntilMs) return null;
    this.#isTrying = true;
    try {
      return await this.#ask(ask);
    } finally {
      this.#isTrying = false;
    }
  }

  async #ask<T>(ask: () => Promise<T>): Promise<T | null> {
    const startedMs = this.#options.clock.monotonicMs();
    try {
      const answer = await within(ASK_MS_MAX, ask(), LATE);
      if (answer === LATE) throw new Error('Redis does not answer in time');
      this.#close(startedMs);
      return answer;
    } catch (error) {
      if (error instanceof Error && WRITE_REFUSED.test(error.message)) {
        this.#close(startedMs);
        if (this.#refusals.count() !== null) this.#options.onRefusal(error);
      } else this.#open(error);
      return null;
    }
  }

  /** Another caller may have failed since: an answer to an earlier question proves nothing. */
  #close(askedMs: number): void {
    const openUntilMs = this.#openUntilMs;
    if (openUntilMs === null || askedMs < openUntilMs) return;
    this.#openUntilMs = null;
    this.#options.onChange(null);
  }

  #open(error: unknown): void {
    const wasClosed = this.#openUntilMs === null;
    this.#openUntilMs = this.#options.clock.monotonicMs() + PAUSE_MS;
    if (wasClosed) this.#options.onChange(error);
  }
}
