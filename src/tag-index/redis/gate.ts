/**
 * Keeps callers away from a Redis that fails or hangs: they have the database, and must not wait a
 * second for each of a thousand groups.
 */

import type { Clock } from '../../std/clock.ts';
import { Seldom } from '../../std/seldom.ts';
import { within } from '../../std/within.ts';

/**
 * A few commands, each of which has a second. Whoever waits longer waits for a connection that does
 * not come.
 */
const ASK_MS_MAX = 3_000;
const LATE = Symbol('late');
/** Until Redis is tried again, by one caller at first. */
const PAUSE_MS = 1_000;
/**
 * Redis answers, but does not write: it is full (maxmemory), cannot save, or lacks the replicas
 * that it is to have. Reads go on.
 */
const WRITE_REFUSED = /^(?:OOM|MISCONF|NOREPLICAS) /;
/** A refusal of each change would be a flood of one sentence. */
const REFUSAL_TOLD_EVERY_MS = 60_000;

export interface GateOptions {
  readonly clock: Clock;
  /** It has closed, with why, or opened again (null). */
  readonly onChange: (error: unknown) => void;
  /** It refuses to write, and may be read from. */
  readonly onRefusal: (error: Error) => void;
}

export class Gate {
  readonly #options: GateOptions;
  #closedUntilMs: number | null = null;
  #isTrying = false;
  readonly #refusals: Seldom;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#refusals = new Seldom(REFUSAL_TOLD_EVERY_MS, () => options.clock.monotonicMs());
  }

  get isOpen(): boolean {
    return this.#closedUntilMs === null;
  }

  /** What `ask` resolves with; null: Redis was not asked, or has failed. */
  async pass<T>(ask: () => Promise<T>): Promise<T | null> {
    const { clock } = this.#options;
    const closedUntilMs = this.#closedUntilMs;
    if (closedUntilMs === null) return this.#ask(ask);
    if (this.#isTrying || clock.monotonicMs() < closedUntilMs) return null;
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
      this.#open(startedMs);
      return answer;
    } catch (error) {
      if (error instanceof Error && WRITE_REFUSED.test(error.message)) {
        this.#open(startedMs);
        if (this.#refusals.count() !== null) this.#options.onRefusal(error);
      } else this.#close(error);
      return null;
    }
  }

  /** Of several callers one may have failed since: what was asked before that proves nothing. */
  #open(askedMs: number): void {
    const closedUntilMs = this.#closedUntilMs;
    if (closedUntilMs === null || askedMs < closedUntilMs) return;
    this.#closedUntilMs = null;
    this.#options.onChange(null);
  }

  #close(error: unknown): void {
    const wasOpen = this.#closedUntilMs === null;
    this.#closedUntilMs = this.#options.clock.monotonicMs() + PAUSE_MS;
    if (wasOpen) this.#options.onChange(error);
  }
}
