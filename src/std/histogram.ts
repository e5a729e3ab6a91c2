/** Counts values by size, in plain numbers: cheap for every send, and able to cross threads. */

export interface HistogramReading {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** Values up to each bound and above the one before; the last count is of those above all. */
  readonly counts: readonly number[];
  readonly sum: number;
}

export class Histogram {
  readonly #bounds: readonly number[];
  #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = zeros(bounds);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let place = 0;
    while (place < bounds.length && value > (bounds[place] ?? 0)) place += 1;
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    this.#sum += value;
  }

  add({ counts, sum }: HistogramReading): void {
    this.#counts = this.#counts.map((count, place) => count + (counts[place] ?? 0));
    this.#sum += sum;
  }

  get reading(): HistogramReading {
    return { bounds: this.#bounds, counts: [...this.#counts], sum: this.#sum };
  }

  take(): HistogramReading {
    const taken = { bounds: this.#bounds, counts: this.#counts, sum: this.#sum };
    this.#counts = zeros(this.#bounds);
    this.#sum = 0;
    return taken;
  }
}

const zeros = (bounds: readonly number[]): number[] => [0, ...bounds.map(() => 0)];
