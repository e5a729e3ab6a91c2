/**
 * When a provider may be connected to: at once, or after a pause, which doubles with each attempt
 * that comes to nothing.
 */

import { backoffMs } from '../../std/backoff.ts';

export interface ReconnectPauseOptions {
  readonly reconnectPauseMs: number;
  readonly reconnectPauseMsMax: number;
}

/**
 * A connection that answered nothing may have met a GOAWAY of its peer's restart; the second one in
 * a row is a fault.
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
   * Whether there was a pause since the last answer, or there is one: a retired connection may
   * still answer in it.
   */
  get hasBeen(): boolean {
    return this.#pauses > 0 || this.isOn;
  }

  /** Why the last one began. */
  get reason(): string {
    return this.#reason;
  }

  get leftMs(): number {
    return Math.ceil(Math.max(0, this.#endsAtMs - performance.now()));
  }

  /** Answers how long it lasts. */
  begin(reason: string): number {
    const { reconnectPauseMs, reconnectPauseMsMax } = this.#options;
    this.#pauses += 1;
    const policy = { baseMs: reconnectPauseMs, capMs: reconnectPauseMsMax };
    const pauseMs = backoffMs(policy, this.#pauses);
    this.#reason = reason;
    this.#endsAtMs = performance.now() + pauseMs;
    return pauseMs;
  }

  /** A connection ended without an answer; true when that is one too many. */
  countFruitless(): boolean {
    this.#fruitless += 1;
    return this.#fruitless > FRUITLESS_CONNECTIONS_MAX;
  }

  /** The provider has answered: all is forgotten. */
  forget(): void {
    this.#fruitless = 0;
    this.#pauses = 0;
  }
}
