/**
 * The state that others set for a running task: the ledger by its replies, the main thread, and the
 * provider by its answers.
 */

import type { Verdict } from '../../outcomes/verdict.ts';
import { Signal } from '../../std/signal.ts';

export class TaskControl {
  /** Fires when anything below has changed. */
  readonly changed = new Signal();
  isLost = false;
  isCancelled: boolean;
  fault: string | null;
  /**
   * Whether any device of the scope has got the push: then a refusal without the provider's own
   * words proves no fault.
   */
  hasDelivered: boolean;
  /** Monotonic time until which the task may go on to the next boundary. Null: it need not stop. */
  giveBackBeforeMs: number | null = null;
  /** Monotonic time from which it waits for no send. Null: their own time-outs end them. */
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

  /** A device has got the push. */
  delivered(): void {
    this.hasDelivered = true;
  }

  giveBack(beforeMs: number, abandonAtMs: number | null): void {
    this.giveBackBeforeMs ??= beforeMs;
    this.abandonAtMs ??= abandonAtMs;
    this.changed.fire();
  }
}
