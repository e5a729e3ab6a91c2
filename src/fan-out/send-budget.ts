/**
 * Devices that a worker has sent and whose outcomes are not recorded yet. After `kill -9` they are the ones that may be
 * sent twice, so there is a bound, and beyond it the worker waits for the ledger.
 */

import { Signal } from '../std/signal.ts';

/** Two groups. The promise of the product: at most so many devices per worker get a push twice. */
export const UNRECORDED_DEVICES_MAX = 16_384;

/** One per worker thread. */
export class SendBudget {
  /** Fires when there is room again. */
  readonly freed = new Signal();
  private readonly max: number;
  private used = 0;

  constructor(max: number = UNRECORDED_DEVICES_MAX) {
    this.max = max;
  }

  get isUsedUp(): boolean {
    return this.used >= this.max;
  }

  /** From here on reports go out without waiting for company. */
  get isHalfUsed(): boolean {
    return this.used * 2 >= this.max;
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
  private taken = 0;

  constructor(budget: SendBudget) {
    this.budget = budget;
  }

  take(): void {
    this.taken += 1;
    this.budget.take();
  }

  /** So many of its sends are recorded. */
  recorded(devices: number): void {
    this.taken -= devices;
    this.budget.give(devices);
  }

  /** The task has ended: what it did not record it never will. */
  close(): void {
    this.recorded(this.taken);
  }
}
