/** How many transactions one run of upkeep may take: what it leaves is the next run's. */
export class TransactionBudget {
  readonly #signal: AbortSignal | undefined;
  #left: number;

  /** When `signal` is aborted, all are spent. */
  constructor(transactionsMax: number, signal?: AbortSignal) {
    this.#left = transactionsMax;
    this.#signal = signal;
  }

  get isSpent(): boolean {
    return this.#left <= 0 || this.#signal?.aborted === true;
  }

  /** Takes one. False: there is none left. */
  take(): boolean {
    if (this.isSpent) return false;
    this.#left -= 1;
    return true;
  }

  /** Repeats `piece`, a transaction, until it does less than it may. False: budget spent. */
  empty(pieceMax: number, piece: () => Promise<number>): Promise<boolean> {
    return this.exhaust(async () => (await piece()) >= pieceMax);
  }

  /** The same with a piece that answers whether there may be more. */
  async exhaust(piece: () => Promise<boolean>): Promise<boolean> {
    while (this.take()) if (!(await piece())) return true;
    return false;
  }
}
