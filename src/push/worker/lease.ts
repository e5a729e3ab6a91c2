/**
 * How long a worker may go on with a claimed part, by the machine's monotonic clock. The database
 * uses its own clock and gives the part to another claim when the lease has ended. A worker stops
 * at half of the lease: the rest is for clocks that run differently, a frozen process and a slow
 * answer. It also stops when other nodes may call its node dead (presence.ts), which frees all
 * parts of the node.
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
