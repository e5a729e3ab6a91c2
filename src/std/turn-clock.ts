/**
 * The monotonic clock, read once in a turn of the event loop: cheap. It may be late by the length
 * of the turn, never early: good for noting a start, not for checking how late it is.
 */

export class TurnClock {
  readonly #read: () => number;
  #nowMs = 0;
  #isRead = false;

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#read = monotonicMs;
  }

  /** Milliseconds of the clock at the first call in this turn. */
  nowMs(): number {
    if (this.#isRead) return this.#nowMs;
    this.#isRead = true;
    this.#nowMs = this.#read();
    process.nextTick(this.#forget);
    return this.#nowMs;
  }

  readonly #forget = (): void => {
    this.#isRead = false;
  };
}
