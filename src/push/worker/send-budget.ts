/** Bounds a worker's sends that are not recorded: after `kill -9` these may be sent twice. */

import { Signal } from '../../std/signal.ts';

/**
 * Two device groups. Tagcast promises that no more devices per worker get a push twice.
 * @limit devices sent and not recorded, per thread → the thread waits for the ledger; after `kill
 * -9` at most so many per thread get a push twice
 */
const UNRECORDED_DEVICES_MAX = 16_384;

/**
 * Alone it may use eight ninths; one that does not answer keeps its share until the time-outs.
 * @limit budget of one credential, in times of what it leaves free → it waits for its own
 */
const HELD_PER_FREE_MAX = 8;

/** The devices that a credential's tasks have taken together. */
export interface BudgetUse {
  used: number;
}

export class SendBudget {
  /** Fires when there is room again that a task waits for. */
  readonly freed = new Signal();
  private readonly max: number;
  private used = 0;
  /** A task has had to wait since `freed` was last fired. */
  private isAwaited = false;

  constructor(max: number = UNRECORDED_DEVICES_MAX) {
    this.max = max;
  }

  /** Whether this credential may take no more; then its task waits for `freed`. */
  isUsedUpFor({ used }: BudgetUse): boolean {
    const isUsedUp = used >= HELD_PER_FREE_MAX * (this.max - this.used);
    this.isAwaited ||= isUsedUp;
    return isUsedUp;
  }

  /** Otherwise they wait to cover more blocks: mostly one report records a whole chunk. */
  get isNearlyUsedUp(): boolean {
    return this.used * 4 >= this.max * 3;
  }

  take(): void {
    this.used += 1;
  }

  give(devices: number): void {
    if (devices === 0) return;
    this.used -= devices;
    // Nearly always no task waits, and notifying each of hundreds of tasks costs more than a send.
    if (!this.isAwaited) return;
    this.isAwaited = false;
    this.freed.fire();
  }
}

/** The devices that one task has taken of its worker's budget. */
export class BudgetShare {
  readonly budget: SendBudget;
  private readonly use: BudgetUse;
  private taken = 0;

  constructor(budget: SendBudget, use: BudgetUse) {
    this.budget = budget;
    this.use = use;
  }

  get isUsedUp(): boolean {
    return this.budget.isUsedUpFor(this.use);
  }

  take(): void {
    this.taken += 1;
    this.use.used += 1;
    this.budget.take();
  }

  /** So many of the task's sends are recorded. */
  recorded(devices: number): void {
    this.taken -= devices;
    this.use.used -= devices;
    this.budget.give(devices);
  }

  /** The task has ended: it records nothing more, so all that it took is free again. */
  close(): void {
    this.recorded(this.taken);
  }
}
