/** Keeps callers away from a Redis that fails or hangs: they have the database. */

import { Seldom } from '../../../packages/std/src/seldom.ts';
import type { Clock } from '../../std/clock.ts';
import { within } from '../../std/within.ts';

/**
 * Time for a few commands, each of which has a second.
 * @limit all of one question to Redis → the circuit opens
 */
const ASK_MS_MAX = 3_000;
const LATE = Symbol('late');
/** @limit Redis is left alone after a failure → one caller tries again */
const PAUSE_MS = 1_000;
/** Redis answers, but does not write: full, cannot save, or lacks replicas. Reads go on. */
const WRITE_REFUSED = /^(?:OOM|MISCONF|NOREPLICAS) /;
/** @limit between log lines about a refusal of Redis to write */
const REFUSAL_TOLD_EVERY_MS = 60_000;

interface RedisBreakerOptions {
  readonly clock: Clock;
  /** The error when callers are kept away, null when they are let through again. */
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
