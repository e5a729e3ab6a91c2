/**
 * Devices that a worker has sent and whose outcomes are not recorded yet. After `kill -9` they are
 * the ones that may be sent twice, so there is a bound, and beyond it the worker waits for the
 * ledger.
 */

import { Signal } from '../../std/signal.ts';

/** Two groups. The promise of the product: at most so many devices per worker get a push twice. */
export const UNRECORDED_DEVICES_MAX = 16_384;

/**
 * A credential may hold so many times what it leaves free: a provider that answers nothing keeps
 * its share until its time-outs, and the others' sends go on with the rest. Alone it may use eight
 * ninths.
 */
const HELD_PER_FREE_MAX = 8;

/** What a credential's tasks have taken together. */
export interface BudgetLine {
  used: number;
}

/** One per worker thread. */
export class SendBudget {
  /** Fires when there is room again. */
  readonly freed = new Signal();
  private readonly max: number;
  private used = 0;

  constructor(max: number = UNRECORDED_DEVICES_MAX) {
    this.max = max;
  }

  /** Whether this line may take no more. */
  isUsedUpFor({ used }: BudgetLine): boolean {
    return used >= HELD_PER_FREE_MAX * (this.max - this.used);
  }

  /**
   * From here on reports go out without waiting for company. Below it a chunk's end tells of all of
   * it, as nearly always.
   */
  get isNearlyUsedUp(): boolean {
    return this.used * 4 >= this.max * 3;
  }

  take(): void {
    this.used += 1;
  }

  give(devices: number): void {
    if (devices === 0) return;
    this.used -= devices;
    this.freed.fire();
  }
}

/** What one task has taken of its worker's budget. */
export class BudgetShare {
  readonly budget: SendBudget;
  private readonly line: BudgetLine;
  private taken = 0;

  constructor(budget: SendBudget, line: BudgetLine) {
    this.budget = budget;
    this.line = line;
  }

  get isUsedUp(): boolean {
    return this.budget.isUsedUpFor(this.line);
  }

  take(): void {
    this.taken += 1;
    this.line.used += 1;
    this.budget.take();
  }

  /** So many of its sends are recorded. */
  recorded(devices: number): void {
    this.taken -= devices;
    this.line.used -= devices;
    this.budget.give(devices);
  }

  /** The task has ended: what it did not record it never will. */
  close(): void {
    this.recorded(this.taken);
  }
}
