/**
 * What a running task has been told: by the ledger's verdicts, by the main thread, by an answer of
 * the provider.
 */

import type { Verdict } from '../../outcomes/verdict.ts';
import { Signal } from '../../std/signal.ts';

export class TaskControl {
  /** Fires when anything below has changed. */
  readonly changed = new Signal();
  isLost = false;
  isCancelled: boolean;
  fault: string | null;
  /** Whether any device of the scope has it: then what only seems to be a fault of all is none. */
  hasDelivered: boolean;
  /**
   * Monotonic time until which it may go on to the next boundary; null: nobody asked it to stop.
   */
  giveBackBeforeMs: number | null = null;
  /**
   * Monotonic time from which nobody waits for sends under way; null: their own time-outs end them.
   */
  abandonAtMs: number | null = null;

  constructor(begins: {
    readonly isCancelled: boolean;
    readonly fault: string | null;
    readonly hasDelivered: boolean;
  }) {
    this.isCancelled = begins.isCancelled;
    this.fault = begins.fault;
    this.hasDelivered = begins.hasDelivered;
  }

  hear(verdict: Verdict, nowMs: number): void {
    switch (verdict.kind) {
      case 'lost':
      case 'refused':
        this.isLost = true;
        break;
      case 'recorded':
        this.fault ??= verdict.fault;
        this.hasDelivered ||= verdict.hasDelivered;
        if (verdict.state === 'CANCELLED') this.isCancelled = true;
        if (verdict.state === 'PAUSED') this.giveBackBeforeMs ??= nowMs;
        break;
    }
    this.changed.fire();
  }

  find(fault: string): void {
    this.fault ??= fault;
    this.changed.fire();
  }

  /** A device has it. */
  delivered(): void {
    this.hasDelivered = true;
  }

  giveBack(beforeMs: number, abandonAtMs: number | null): void {
    this.giveBackBeforeMs ??= beforeMs;
    this.abandonAtMs ??= abandonAtMs;
    this.changed.fire();
  }
}
