/** Sends that wait for room at a sender, in order. */

import type { Sender } from '../sender.ts';

export class WaitingLine {
  readonly #sender: Sender;
  readonly #start: (number: number) => void;
  readonly #waiting: number[] = [];
  #isWaiting = false;

  constructor(sender: Sender, start: (number: number) => void) {
    this.#sender = sender;
    this.#start = start;
  }

  get length(): number {
    return this.#waiting.length;
  }

  add(number: number): void {
    this.#waiting.push(number);
    if (!this.#isWaiting) void this.#startAll();
  }

  /** Empties the line, and returns the sends that were in it. */
  clear(): readonly number[] {
    return this.#waiting.splice(0);
  }

  async #startAll(): Promise<void> {
    this.#isWaiting = true;
    while (this.#waiting.length > 0) {
      await this.#sender.whenReady();
      const started = this.#waiting.splice(0, Math.max(0, this.#sender.capacity));
      for (const number of started) this.#start(number);
    }
    this.#isWaiting = false;
  }
}
