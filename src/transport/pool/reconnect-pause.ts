/** When the pool may connect: at once, or after a pause, which doubles with each failed attempt. */

import { backoffMs } from '../../std/backoff.ts';

interface ReconnectPauseOptions {
  readonly reconnectPauseMs: number;
  readonly reconnectPauseMsMax: number;
}

/** In a row. The first may have met the peer's restart; a second one is a fault. */
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

  /** Whether a pause is on, in which retired connections may answer, or was since. */
  get hasBeen(): boolean {
    return this.#pauses > 0 || this.isOn;
  }

  get reason(): string {
    return this.#reason;
  }

  get leftMs(): number {
    return Math.ceil(Math.max(0, this.#endsAtMs - performance.now()));
  }

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

  forget(): void {
    this.#fruitless = 0;
    this.#pauses = 0;
  }
}
