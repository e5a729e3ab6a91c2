/** A running task's state, set by the ledger, the main thread and the provider's answers. */

import type { NotificationState } from '../../domain/notification.ts';
import { Signal } from '../../std/signal.ts';
import type { Reply } from '../ledger/reply.ts';

export class TaskControl {
  /** Fires when anything below has changed. */
  readonly changed = new Signal();
  isLost = false;
  isCancelled: boolean;
  fault: string | null;
  /** A device of the scope has got the push: then a refusal in other words proves no fault. */
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

  hear(reply: Reply, nowMs: number): void {
    switch (reply.kind) {
      case 'lost':
      case 'refused':
        this.isLost = true;
        break;
      case 'recorded':
        this.fault ??= reply.fault;
        this.hasDelivered ||= reply.hasDelivered;
        this.obey(reply.state, nowMs);
        break;
    }
    this.changed.fire();
  }

  hearState(state: NotificationState, nowMs: number): void {
    this.obey(state, nowMs);
    this.changed.fire();
  }

  find(fault: string): void {
    this.fault ??= fault;
    this.changed.fire();
  }

  delivered(): void {
    this.hasDelivered = true;
  }

  giveBack(beforeMs: number, abandonAtMs: number | null): void {
    this.giveBackBeforeMs ??= beforeMs;
    this.abandonAtMs ??= abandonAtMs;
    this.changed.fire();
  }

  /** Paused, it stops where it is: the rest of its block is sent when it is resumed. */
  private obey(state: NotificationState, nowMs: number): void {
    if (state === 'CANCELLED') this.isCancelled = true;
    if (state !== 'PAUSED') return;
    this.giveBackBeforeMs = Math.min(this.giveBackBeforeMs ?? nowMs, nowMs);
  }
}
