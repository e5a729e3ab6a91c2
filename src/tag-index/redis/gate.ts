/** Keeps callers away from a Redis that fails or hangs: they have the database, and must not wait a second for each of a thousand groups. */

import type { Clock } from '../../std/clock.ts';
import { within } from '../../std/within.ts';

/** A few commands, each of which has a second. Whoever waits longer waits for a connection that does not come. */
const ASK_MS_MAX = 3_000;
const LATE = Symbol('late');
/** Until Redis is tried again, by one caller at first. */
const PAUSE_MS = 1_000;

export interface GateOptions {
  readonly clock: Clock;
  /** It has closed, with why, or opened again (null). */
  readonly onChange: (error: unknown) => void;
}

export class Gate {
  readonly #options: GateOptions;
  #closedUntilMs: number | null = null;
  #isTrying = false;

  constructor(options: GateOptions) {
    this.#options = options;
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
    const { clock, onChange } = this.#options;
    const startedMs = clock.monotonicMs();
    try {
      const answer = await within(ASK_MS_MAX, ask(), LATE);
      if (answer === LATE) throw new Error('Redis does not answer in time');
      // Of several callers one may have failed since: what was asked before that proves nothing.
      const closedUntilMs = this.#closedUntilMs;
      if (closedUntilMs !== null && startedMs >= closedUntilMs) {
        this.#closedUntilMs = null;
        onChange(null);
      }
      return answer;
    } catch (error) {
      const wasOpen = this.#closedUntilMs === null;
      this.#closedUntilMs = clock.monotonicMs() + PAUSE_MS;
      if (wasOpen) onChange(error);
      return null;
    }
  }
}
