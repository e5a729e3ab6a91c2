/**
 * How long a worker may go on with what it has claimed, by the machine's monotonic clock. The
 * database judges by its own clock and gives the chunk to another when the lease has ended; a
 * worker stops at half of it, so that clocks that run differently, a frozen process and a slow
 * answer all end before that. It stops as well when its node may be taken for dead (presence.ts),
 * which frees all that the node holds.
 */

import type { Clock } from '../../std/clock.ts';

export class Lease {
  private readonly clock: Clock;
  private readonly lengthMs: number;
  private readonly isNodePresent: () => boolean;
  private startedMs: number;

  /** `startedMs`: monotonic time before the database was asked for it. */
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
