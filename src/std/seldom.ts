/**
 * What happens often is told once, and from then on at most so often: with how often it happened.
 */
export class Seldom {
  readonly #intervalMs: number;
  /** Milliseconds of a clock that nobody sets. */
  readonly #monotonicMs: () => number;
  #untold = 0;
  #toldAtMs = Number.NEGATIVE_INFINITY;

  constructor(intervalMs: number, monotonicMs: () => number = () => performance.now()) {
    this.#intervalMs = intervalMs;
    this.#monotonicMs = monotonicMs;
  }

  /** It happened. How often since it was told last, if it is to be told now; else null. */
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
