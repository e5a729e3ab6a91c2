/**
 * Random choices out of a seed: the same seed, the same choices, so that a run that fails can be
 * played again.
 */

const PATTERN_PERIOD = 251;
/** Longer than anything that is asked for. */
const PATTERN = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7) % PATTERN_PERIOD));

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** 0 or more, less than 1 (the generator "mulberry32"). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** From `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.between(0, choices.length - 1)] as T;
  }

  /** One of them, or nothing when there are none. */
  pickIfAny<T>(choices: readonly T[]): T | undefined {
    return choices[this.between(0, choices.length - 1)];
  }

  /** Mostly short, seldom as long as `max`. */
  length(max: number): number {
    return Math.floor(max * this.fraction() ** 4);
  }

  octets(length: number): Buffer {
    const start = this.between(0, PATTERN_PERIOD - 1);
    return Buffer.from(PATTERN.subarray(start, start + length));
  }

  /** Visible ASCII. */
  text(length: number): string {
    return Buffer.from(this.octets(length).map((octet) => 0x21 + (octet % 94))).toString('latin1');
  }
}
