/**
 * How long a worker may go on with a claimed part, by the machine's monotonic clock: for half of
 * the lease, because clocks differ and answers are slow, and while no other node may call its node
 * dead (presence.ts).
 */

import type { Clock } from '../../std/clock.ts';

export class Lease {
  private readonly clock: Clock;
  private readonly lengthMs: number;
  private readonly isNodePresent: () => boolean;
  private startedMs: number;

  /** `startedMs`: monotonic time before the claim was sent to the database. */
  constructor(clock: Clock, startedMs: number, lengthMs: number, isNodePresent: () => boolean) {
    this.clock = clock;
    this.startedMs = startedMs;
    this.lengthMs = lengthMs;
    this.isNodePresent = isNodePresent;
  }

  /** `sentAtMs`: monotonic time before the renewing transaction was sent. */
  renew(sentAtMs: number): void {
    this.startedMs = Math.max(this.startedMs, sentAtMs);
  }

  /** Whether nothing more may be sent under it. */
  get isSpent(): boolean {
    const isHalfOver = this.clock.monotonicMs() - this.startedMs >= this.lengthMs / 2;
    return isHalfOver || !this.isNodePresent();
  }
}
