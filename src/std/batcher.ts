/** Group commit: what comes while a batch is under way goes into the next one, so that batches grow with the load. */

export interface BatcherOptions<Item, Result> {
  readonly itemsMax: number;
  /** Bound on the sum of weights of a batch; a single item may exceed it, alone. */
  readonly weightMax: number;
  weightOf(item: Item): number;
  /** Answers every item, in order. What it throws is thrown at everybody in the batch. */
  run(items: readonly Item[]): Promise<readonly Result[]>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Starts a batch at once when none is in flight and gathers while one is: a lone item never waits for company (a fixed
 * wait of 2 ms held throughput down at few connections), and there is never more than one batch at work.
 * Unbounded by itself: whoever submits bounds what is in flight.
 */
export class Batcher<Item, Result> {
  private readonly options: BatcherOptions<Item, Result>;
  private waiting: Waiting<Item, Result>[] = [];
  private inFlight: Promise<void> | null = null;

  constructor(options: BatcherOptions<Item, Result>) {
    this.options = options;
  }

  /** Resolves with the item's own result when its batch is done. */
  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.inFlight ??= this.work();
    });
  }

  /** Resolves when nothing is waiting or in flight. */
  drain(): Promise<void> {
    return this.inFlight ?? Promise.resolve();
  }

  private async work(): Promise<void> {
    // What is submitted in the same turn of the event loop's queue shares the first batch.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const batch = this.take();
      try {
        const results = await this.options.run(batch.map(({ item }) => item));
        if (results.length !== batch.length) throw new Error('A batch must answer every item');
        for (const [index, result] of results.entries()) batch[index]?.resolve(result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.inFlight = null;
  }

  private take(): readonly Waiting<Item, Result>[] {
    const { itemsMax, weightMax, weightOf } = this.options;
    let weight = 0;
    let end = 0;
    for (const { item } of this.waiting) {
      weight += weightOf(item);
      if (end === itemsMax || (end > 0 && weight > weightMax)) break;
      end += 1;
    }
    const batch = this.waiting.slice(0, end);
    this.waiting = this.waiting.slice(end);
    return batch;
  }
}
