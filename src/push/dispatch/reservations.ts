/** Keeps slots for small parts while they are being accepted: that transaction claims them too. */

import type { Clock } from '../../std/clock.ts';
import type { Presence } from '../protocol/presence.ts';
import type { ClaimedChunk } from '../sql/ledger/claim-chunks.ts';
import type { Claimed } from './claimed.ts';
import type { Holder } from './fair-share.ts';
import { FairShare } from './fair-share.ts';
import type { SmallPart } from './small-parts.ts';
import { candidatesOf, inBatches } from './small-parts.ts';

/** Either call ends it. */
export interface Reservation {
  /** Claim under this id, and with this lease. */
  readonly nodeId: number | null;
  readonly leaseMs: number;
  /** These were claimed: they begin, and slots that they do not need are free. */
  start(chunks: readonly ClaimedChunk[]): void;
  /** Nothing was claimed. */
  cancel(): void;
}

interface ReservationsOptions {
  readonly slots: number;
  readonly reservedSlots: number;
  readonly leaseMs: number;
  readonly presence: Presence;
  readonly clock: Clock;
  /** Each batch takes a slot. */
  readonly begin: (batches: readonly (readonly Claimed[])[]) => void;
  /** Called when slots were given up. */
  readonly onFree: () => void;
}

export class Reservations {
  readonly #options: ReservationsOptions;
  /** One for each slot. */
  #kept: readonly Holder[] = [];
  #waiting: readonly (() => void)[] = [];

  constructor(options: ReservationsOptions) {
    this.#options = options;
  }

  get holders(): readonly Holder[] {
    return this.#kept;
  }

  /**
   * Null: the fair share has too few slots for them, or this node may not send. `left`: slots that
   * stay free.
   */
  reserve(parts: readonly SmallPart[], held: readonly Holder[], left: number): Reservation | null {
    const { slots, reservedSlots, leaseMs, presence, clock, begin, onFree } = this.#options;
    const { nodeId } = presence;
    if (!presence.covers(nodeId)) return null;
    const wanted = candidatesOf(parts);
    const holders = [...held, ...this.#kept];
    const free = slots - holders.length - left;
    const share = new FairShare().share(wanted, holders, free, reservedSlots);
    if (share.length < wanted.reduce((sum, { slotsMax }) => sum + slotsMax, 0)) return null;
    // Objects of their own: each is given up by itself.
    const reserved = share.map((holder) => ({ ...holder }));
    this.#kept = [...this.#kept, ...reserved];
    const leaseStartedMs = clock.monotonicMs();
    return {
      nodeId,
      leaseMs,
      start: (chunks) => {
        const claim = { kind: 'chunk' as const, leaseStartedMs, nodeId };
        begin(inBatches(chunks.map((chunk) => ({ ...claim, chunk }))));
        this.#giveUp(reserved);
        onFree();
      },
      cancel: () => {
        this.#giveUp(reserved);
        onFree();
      },
    };
  }

  /** Resolves when no slot is kept. */
  ended(): Promise<void> {
    if (this.#kept.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting = [...this.#waiting, resolve];
    });
  }

  #giveUp(reserved: readonly Holder[]): void {
    this.#kept = this.#kept.filter((holder) => !reserved.includes(holder));
    if (this.#kept.length > 0) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}
