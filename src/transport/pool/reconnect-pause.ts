/**
 * When the pool may connect to a provider: at once, or after a pause, which doubles with each
 * attempt that fails.
 */

import { backoffMs } from '../../std/backoff.ts';

interface ReconnectPauseOptions {
  readonly reconnectPauseMs: number;
  readonly reconnectPauseMsMax: number;
}

/**
 * Connections in a row that may end without an answer. The first one may have met the peer's
 * restart; a second one is a fault.
 */
const FRUITLESS_CONNECTIONS_MAX = 1;

export class ReconnectPause {
  readonly #options: ReconnectPauseOptions;
  #reason = '';
  #pauses = 0;
  #fruitless = 0;
  #endsAtMs = 0;

  constructor(options: ReconnectPauseOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return performance.now() < this.#endsAtMs;
  }

  /**
   * Whether a pause is on, in which a retired connection may answer, or was since the last answer.
   */
  get hasBeen(): boolean {
    return this.#pauses > 0 || this.isOn;
  }

  /** Why the last pause began. */
  get reason(): string {
    return this.#reason;
  }

  get leftMs(): number {
    return Math.ceil(Math.max(0, this.#endsAtMs - performance.now()));
  }

  /** Begins a pause, and returns its length. */
  begin(reason: string): number {
    const { reconnectPauseMs, reconnectPauseMsMax } = this.#options;
    this.#pauses += 1;
    const policy = { baseMs: reconnectPauseMs, capMs: reconnectPauseMsMax };
    const pauseMs = backoffMs(policy, this.#pauses);
    this.#reason = reason;
    this.#endsAtMs = performance.now() + pauseMs;
    return pauseMs;
  }

  /** Counts a connection that ended without an answer. True: too many have. */
  countFruitless(): boolean {
    this.#fruitless += 1;
    return this.#fruitless > FRUITLESS_CONNECTIONS_MAX;
  }

  /** The provider has answered: the counts start again. */
  forget(): void {
    this.#fruitless = 0;
    this.#pauses = 0;
  }
}
