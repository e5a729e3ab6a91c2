/**
 * Limits how often an event is reported: the first time, and from then on at most once in an
 * interval, with the number of events.
 */
export class Seldom {
  readonly #intervalMs: number;
  /** Milliseconds of a clock that cannot be set. */
  readonly #monotonicMs: () => number;
  #untold = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(intervalMs: number, monotonicMs: () => number = () => performance.now()) {
    this.#intervalMs = intervalMs;
    this.#monotonicMs = monotonicMs;
  }

  /**
   * Counts an event. Answers the number of events since the last report if it is time for another;
   * null: it is not.
   */
  count(): number | null {
    this.#untold += 1;
    const nowMs = this.#monotonicMs();
    if (nowMs - this.#toldAtMs < this.#intervalMs) return null;
    const count = this.#untold;
    this.#toldAtMs = nowMs;
    this.#untold = 0;
    return count;
  }
}
