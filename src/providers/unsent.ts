/** Sends that end without a request, settled in the event loop's next turn as `Settle` promises. */

import type { Outcome } from '../domain/outcome.ts';
import type { Settle } from '../transport/transport.ts';

export class Unsent {
  #count = 0;
  #allSettled: (() => void) | null = null;

  get count(): number {
    return this.#count;
  }

  settle(position: number, settle: Settle, outcome: Outcome): void {
    this.#count += 1;
    setImmediate(() => {
      this.#count -= 1;
      settle(position, outcome);
      if (this.#count === 0) this.#allSettled?.();
    });
  }

  /** Resolves when all are settled. */
  async settled(): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#allSettled = resolve;
    });
  }
}
