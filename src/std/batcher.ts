/** Group commit: items that arrive while a batch is under way go into the next one. */

import { setImmediate as nextTurn } from 'node:timers/promises';

interface BatcherOptions<Item, Result> {
  readonly itemsMax: number;
  /** Bound on the sum of weights of a batch; a single item may exceed it, alone. */
  readonly weightMax?: number;
  /** Called once for each item. */
  readonly weightOf?: (item: Item) => number;
  /** Answers every item, in order; a promise: after the batch. An error rejects the batch. */
  run(items: readonly Item[]): Promise<readonly (Result | Promise<Result>)[]>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly weight: number;
  resolve(result: Result | Promise<Result>): void;
  reject(error: unknown): void;
}

/**
 * A hundred requests are read in so many.
 * @limit turns of the event loop in which a batch of registrations gathers → it starts
 */
const TURNS_MAX = 10;
/**
 * The first turn may end before the sockets are read.
 * @limit of them, turns in a row without a new operation → it starts
 */
const SILENT_TURNS_MAX = 2;

/**
 * One batch is under way at most; the next one gathers meanwhile. A lone item does not wait, but
 * callers that were just answered submit again: so a batch grows as large as the one before, while
 * each turn of the event loop brings more. Its callers bound the items in flight.
 */
export class Batcher<Item, Result> {
  private readonly options: BatcherOptions<Item, Result>;
  private waiting: Waiting<Item, Result>[] = [];
  private inFlight: Promise<void> | null = null;
  private lastSize = 1;

  constructor(options: BatcherOptions<Item, Result>) {
    this.options = options;
  }

  /** Resolves with the item's own result, when its batch is done or later. */
  submit(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, weight: this.options.weightOf?.(item) ?? 0, resolve, reject });
      this.inFlight ??= this.work();
    });
  }

  /** The same for items that come before all that are waiting. */
  submitFirst(items: readonly Item[]): readonly Promise<Result>[] {
    const later = this.waiting;
    this.waiting = [];
    const results = items.map((item) => this.submit(item));
    this.waiting = [...this.waiting, ...later];
    return results;
  }

  /** No item is waiting, nor a batch in flight; an answer may be a promise still. */
  get isIdle(): boolean {
    return this.inFlight === null;
  }

  drain(): Promise<void> {
    return this.inFlight ?? Promise.resolve();
  }

  private async work(): Promise<void> {
    while (this.waiting.length > 0) {
      await this.gather();
      const batch = this.take();
      this.lastSize = batch.length;
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

  private async gather(): Promise<void> {
    let silentTurns = 0;
    for (let turn = 0; turn < TURNS_MAX && silentTurns < SILENT_TURNS_MAX; turn += 1) {
      const before = this.waiting.length;
      await nextTurn();
      if (this.waiting.length >= this.lastSize) return;
      silentTurns = this.waiting.length > before ? 0 : silentTurns + 1;
    }
  }

  private take(): readonly Waiting<Item, Result>[] {
    const { itemsMax, weightMax = Number.POSITIVE_INFINITY } = this.options;
    let taken = 0;
    let end = 0;
    for (const { weight } of this.waiting) {
      taken += weight;
      if (end === itemsMax || (end > 0 && taken > weightMax)) break;
      end += 1;
    }
    const batch = this.waiting.slice(0, end);
    this.waiting = this.waiting.slice(end);
    return batch;
  }
}
