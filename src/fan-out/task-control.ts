/** What a running task has been told: by the ledger's verdicts, by the main thread, by an answer of the provider. */

import type { Verdict } from '../outcomes/verdict.ts';
import { Signal } from '../std/signal.ts';

/**
 * Devices of a task that have to be refused for one reason that may be their own, before it is the message's fault. One
 * strange token must not stop a million others; eight in a row, with nobody delivered in the whole scope, are no chance.
 */
export const DOUBTFUL_REFUSALS_MAX = 8;

export class TaskControl {
  /** Fires when anything below has changed. */
  readonly changed = new Signal();
  isLost = false;
  isCancelled: boolean;
  fault: string | null;
  /** Whether any device of the scope has it: then the message itself is not at fault. */
  private hasDelivered: boolean;
  private doubted: { readonly reason: string; devices: number } = { reason: '', devices: 0 };
  /** Monotonic time until which it may go on to the next boundary; null: nobody asked it to stop. */
  giveBackBeforeMs: number | null = null;
  /** Monotonic time from which nobody waits for sends under way; null: their own time-outs end them. */
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

  /** One more device was refused for a reason that may be its own. */
  doubt(reason: string): void {
    if (this.hasDelivered) return;
    if (this.doubted.reason !== reason) this.doubted = { reason, devices: 0 };
    this.doubted.devices += 1;
    if (this.doubted.devices >= DOUBTFUL_REFUSALS_MAX) this.find(reason);
  }

  giveBack(beforeMs: number, abandonAtMs: number | null): void {
    this.giveBackBeforeMs ??= beforeMs;
    this.abandonAtMs ??= abandonAtMs;
    this.changed.fire();
  }
}
