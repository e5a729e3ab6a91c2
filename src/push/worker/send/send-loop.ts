/**
 * The send loop: hands devices to a sender one by one, never more than it can take, and stops when
 * the task, the provider or a deadline requires it. It checks the lease as it sends: a process that
 * was frozen must not go on when it wakes, for another node may have taken over its devices.
 */

import type { DeviceToken } from '../../../domain/device.ts';
import type { DeviceHistory } from '../../../domain/device-group-change.ts';
import type { Outcome } from '../../../domain/outcome.ts';
import type { Wait } from '../../../domain/progress.ts';
import type { Sender } from '../../../providers/sender.ts';
import { Bell } from '../../../std/bell.ts';
import type { Clock } from '../../../std/clock.ts';
import type { Rendered } from '../../../transport/transport.ts';
import type { Deadlines } from '../../protocol/deadlines.ts';
import type { Pace } from '../../protocol/pace.ts';
import type { Permits } from '../../protocol/permits.ts';
import type { CircuitBreaker } from '../circuit-breaker.ts';
import type { FairQueue, Place } from '../fair-queue.ts';
import type { Lease } from '../lease.ts';
import type { BudgetShare } from '../send-budget.ts';
import type { TaskControl } from '../task-control.ts';
import type { Ending } from './ending.ts';
import { CANCELLED, EXPIRED, failedWith } from './ending.ts';

/**
 * @limit no connection to a provider, and no send under way → the provider counts as failing for
 * everyone
 */
const READY_PATIENCE_MS = 10_000;

/** The send queue: the devices of a task, in order. */
export interface SendQueue {
  /** All positions are below it. */
  readonly size: number;
  /** The position of the next device. Null: none is left. */
  readonly next: number | null;
  /** Whether stopping before `next` leaves nothing half sent. */
  readonly isAtBoundary: boolean;
  /** Whether `next` may be sent already. At most once: when its block is recorded as started. */
  readonly isNextCleared: boolean;
  deviceIdAt(position: number): DeviceToken;
  /** The history of the device. Null, as for most: none. */
  historyAt(position: number): DeviceHistory | null;
  /** Which language of the payload is the device's, from 1; 0: none. */
  languageAt(position: number): number;
  /** `next` was handed to the sender at this time (epoch milliseconds). */
  advance(atMs: number): void;
  settle(position: number, outcome: Outcome): void;
  /** Ends devices that are not tried again at this time (epoch milliseconds); `next` skips them. */
  endLate(atMs: number): void;
}

interface SendLoopOptions {
  readonly queue: SendQueue;
  readonly notificationId: string;
  readonly isUrgent: boolean;
  readonly sender: Sender;
  readonly fairQueue: FairQueue;
  readonly rendered: Rendered;
  /** In the languages of the payload, from 1. Empty: all devices get the same. */
  readonly inLanguages: readonly Rendered[];
  readonly breaker: CircuitBreaker;
  /** Null: no quota limits it. */
  readonly permits: Permits | null;
  /** Null: the notification is held to no rate. */
  readonly pace: Pace | null;
  readonly share: BudgetShare;
  readonly lease: Lease;
  readonly control: TaskControl;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** Called when sends must wait for the ledger: finished devices should be reported now. */
  readonly urgeReport: () => void;
}

/** Why the loop stopped before the end, and what becomes of the rest. */
export type Halt =
  | { readonly kind: 'lost' }
  /** `reason`: why the rest waits. Null: it only waits for the next claim. */
  | { readonly kind: 'give-back'; readonly afterMs: number; readonly reason: string | null }
  | { readonly kind: 'settle-rest'; readonly ending: Ending };

/** The rest is given back, to be claimed again after `afterMs`. */
export type Release = Extract<Halt, { readonly kind: 'give-back' }>;

/** The wait as a report has it. */
export const waitIn = ({ afterMs, reason }: Release): { readonly waitingFor?: Wait } =>
  reason === null ? {} : { waitingFor: { reason, forMs: afterMs } };

/**
 * The sends of a turn go to the socket together: a reading before each would stop none sooner.
 * @limit sends from one look at the clocks to the next
 */
const SENDS_PER_LOOK = 32;

const LOST: Halt = { kind: 'lost' };
/** The provider's reason while sends wait for a quota, or fail when time is up before. */
const QUOTA_EXCEEDED = 'QUOTA_EXCEEDED';
const AT_ONCE: Halt = { kind: 'give-back', afterMs: 0, reason: null };

export class SendLoop {
  private readonly options: SendLoopOptions;
  // Read for every send, and faster to read here than from the options.
  private readonly queue: SendQueue;
  private readonly sender: Sender;
  private readonly breaker: CircuitBreaker;
  private readonly permits: Permits | null;
  private readonly pace: Pace | null;
  private readonly share: BudgetShare;
  private readonly control: TaskControl;
  private readonly place: Place;
  private readonly bell = new Bell();
  private readonly unsubscribe: readonly (() => void)[];
  /** Indexed by position: 1 while its send has no outcome. */
  private readonly isUnderWay: Uint8Array;
  private underWay = 0;
  private isQueued = false;
  private isAbandoned = false;

  constructor(options: SendLoopOptions) {
    this.options = options;
    const ring = (): void => this.bell.ring();
    const { control, breaker, share, permits, pace, queue, sender, fairQueue } = options;
    this.queue = queue;
    this.sender = sender;
    this.breaker = breaker;
    this.permits = permits;
    this.pace = pace;
    this.share = share;
    this.control = control;
    this.place = fairQueue.join(options.notificationId, options.isUrgent);
    this.isUnderWay = new Uint8Array(queue.size);
    const signals = [control, breaker, permits, pace].map((one) => one?.changed);
    this.unsubscribe = [...signals, share.budget.freed]
      .filter((signal) => signal !== undefined)
      .map((signal) => signal.on(ring));
  }

  /** Sends until none is left (null) or it must halt; resolves when each send has its outcome. */
  async run(): Promise<Halt | null> {
    try {
      const halt = await this.sendToEnd();
      this.pace?.close();
      await this.settled();
      return halt;
    } finally {
      for (const end of this.unsubscribe) end();
    }
  }

  private async sendToEnd(): Promise<Halt | null> {
    for (;;) {
      const halt = this.sendOn();
      if (halt !== null || this.queue.next === null) return halt;
      await this.waitForRoom();
    }
  }

  /** Sends until something halts or blocks the next send, all in one turn of the event loop. */
  private sendOn(): Halt | null {
    const { queue } = this;
    const nowMs = this.options.clock.nowMs();
    queue.endLate(nowMs);
    let sends = 0;
    for (let position = queue.next; position !== null; position = queue.next) {
      const halt = this.halt(sends % SENDS_PER_LOOK === 0);
      if (halt !== null) return halt;
      if (this.isObstructed()) return null;
      this.send(position, nowMs);
      sends += 1;
    }
    return null;
  }

  /** Null: go on. `isTimeAsked`: whether to read the clocks, a twentieth of a send. */
  private halt(isTimeAsked: boolean): Halt | null {
    const { control, breaker, permits } = this;
    if (control.isLost) return LOST;
    if (control.isCancelled) return { kind: 'settle-rest', ending: CANCELLED };
    if (control.fault !== null) return { kind: 'settle-rest', ending: failedWith(control.fault) };
    if (isTimeAsked) {
      const halt = this.haltByTime();
      if (halt !== null) return halt;
    }
    const quotaMs = permits?.stoppedForMs ?? 0;
    const stoppedForMs = Math.max(breaker.stoppedForMs, quotaMs);
    if (stoppedForMs > quotaMs && this.mayBeSetFree) return null;
    if (stoppedForMs > 0) return this.haltWhile(stoppedForMs, stoppedForMs === quotaMs);
    if (control.giveBackBeforeMs === null) return null;
    const isLate = this.options.clock.monotonicMs() >= control.giveBackBeforeMs;
    return this.queue.isAtBoundary || isLate ? AT_ONCE : null;
  }

  /** An answer to a send under way may show at once that the provider works. */
  private get mayBeSetFree(): boolean {
    return this.underWay > 0 && this.control.giveBackBeforeMs === null;
  }

  private haltByTime(): Halt | null {
    const { lease, clock, deadlines } = this.options;
    if (deadlines.expires && clock.nowMs() >= deadlines.sendUntilMs) {
      return { kind: 'settle-rest', ending: EXPIRED };
    }
    return lease.isSpent ? AT_ONCE : null;
  }

  /** Nothing may be sent for so long: gives the rest back, or ends it if that is too late. */
  private haltWhile(stoppedForMs: number, isQuota: boolean): Halt {
    const { clock, deadlines } = this.options;
    const { breaker, queue } = this;
    const reason = isQuota ? QUOTA_EXCEEDED : breaker.lastReason;
    const againAtMs = clock.nowMs() + stoppedForMs;
    if (againAtMs < deadlines.sendUntilMs) {
      queue.endLate(againAtMs);
      return { kind: 'give-back', afterMs: stoppedForMs, reason };
    }
    return { kind: 'settle-rest', ending: deadlines.expires ? EXPIRED : failedWith(reason) };
  }

  private isObstructed(): boolean {
    const { queue, breaker, permits, pace, share } = this;
    if (pace !== null && !pace.admits) return true;
    if (breaker.stoppedForMs > 0 || !breaker.admits) return true;
    if (permits !== null && !permits.admits) return true;
    if (share.isUsedUp || !queue.isNextCleared) {
      this.options.urgeReport();
      return true;
    }
    if (this.sender.capacity > 0) return false;
    void this.waitInQueue();
    return true;
  }

  /**
   * Only the fair queue gives room: woken by its own outcomes, a task that fills the sender would
   * take every free place again.
   */
  private async waitInQueue(): Promise<void> {
    if (this.isQueued) return;
    this.isQueued = true;
    await this.options.fairQueue.wait(this.place);
    this.isQueued = false;
    this.bell.ring();
  }

  private async waitForRoom(): Promise<void> {
    const { fairQueue } = this.options;
    const { breaker, control, pace } = this;
    // The bell does not ring when it is time to give back, or for the next send of a pace.
    const leftMs = this.leftUntil(control.giveBackBeforeMs);
    await this.bell.wait(Math.min(READY_PATIENCE_MS, leftMs, pace?.nextInMs ?? leftMs));
    if (!this.isQueued || this.underWay > 0) return;
    if (fairQueue.withoutRoomForMs >= READY_PATIENCE_MS) breaker.stop('ProviderUnreachable', 0);
  }

  private send(position: number, nowMs: number): void {
    const { queue, breaker, permits } = this;
    this.share.take();
    permits?.take();
    this.pace?.take();
    breaker.sent();
    this.isUnderWay[position] = 1;
    this.underWay += 1;
    const environment = queue.historyAt(position)?.environment ?? null;
    queue.advance(nowMs);
    const deviceId = queue.deviceIdAt(position);
    this.sender.send(this.renderedAt(position), deviceId, position, this.settle, environment);
  }

  private renderedAt(position: number): Rendered {
    const { rendered, inLanguages } = this.options;
    if (inLanguages.length === 0) return rendered;
    return inLanguages[this.queue.languageAt(position) - 1] ?? rendered;
  }

  private readonly settle = (position: number, outcome: Outcome): void => {
    this.breaker.settled(outcome);
    this.permits?.settled(outcome);
    if (this.isAbandoned) return;
    if (this.isUnderWay[position] !== 1) throw new Error(`send ${position} was answered twice`);
    this.isUnderWay[position] = 0;
    this.underWay -= 1;
    this.queue.settle(position, outcome);
    if (this.underWay === 0) this.bell.ring();
  };

  private async settled(): Promise<void> {
    const { control } = this;
    while (this.underWay > 0) {
      const leftMs = this.leftUntil(control.abandonAtMs);
      if (leftMs === 0) this.abandon();
      else await this.bell.wait(Math.min(READY_PATIENCE_MS, leftMs));
    }
  }

  /** Milliseconds until a monotonic time: 0 when it has passed, infinite when it is null. */
  private leftUntil(monotonicMs: number | null): number {
    if (monotonicMs === null) return Number.POSITIVE_INFINITY;
    return Math.max(0, Math.ceil(monotonicMs - this.options.clock.monotonicMs()));
  }

  /** Stops waiting for answers: it is not known whether the provider accepted these sends. */
  private abandon(): void {
    this.isAbandoned = true;
    this.underWay = 0;
    for (const [position, isUnderWay] of this.isUnderWay.entries()) {
      if (isUnderWay === 0) continue;
      this.queue.settle(position, { kind: 'unknown', reason: 'Abandoned' });
    }
  }
}
