/**
 * The fair share of the free slots: to the client that holds the fewest; there, urgent sends hold
 * four for each other one; then to the notification, then to its scope, that hold the fewest; among
 * equals to the one served longest ago. No scope may take all: a provider that does not answer
 * keeps its own until the time-outs.
 */

import { scopeKeyOf } from '../../domain/device.ts';
import type { NotificationScope } from '../../domain/notification.ts';
import { notificationScopeKeyOf, URGENT_PER_OTHER } from '../../domain/notification.ts';

export interface Holder extends NotificationScope {
  readonly clientId: number;
  readonly isUrgent: boolean;
}

export interface Candidate extends Holder {
  /** Null: it is held to no rate. */
  readonly ratePerSecond: number | null;
  /** Its work fills no more slots than these. Absent: as many as there are. */
  readonly slotsMax?: number;
}

/**
 * One scope alone gets two thirds of all slots; each further one that hangs, two thirds of the
 * rest. (Dynamic thresholds: Choudhury and Hahne, 1998.)
 * @limit slots of one (app, platform), in times of what it leaves free → it waits for its own
 */
const HELD_PER_FREE_MAX = 2;

/**
 * Tasks of a scope with a rate mostly wait: one for so many devices suffices.
 * @limit devices a second for each further slot
 */
const RATE_PER_SLOT = 500;
/** @limit slots of one scope of a send with a rate → others get them */
const SLOTS_BESIDE_RATE = 2;

export class FairShare {
  private readonly servedAt = new Map<string, number>();
  private turn = 0;

  /**
   * One entry for each slot, in order. `underWay`: holders of the other slots. `reserved`: for
   * urgent sends without one in their scope; then `slots` may be below zero.
   */
  share<C extends Candidate>(
    candidates: readonly C[],
    underWay: readonly Holder[],
    slots: number,
    reserved = 0,
  ): readonly C[] {
    this.forgetAllBut(candidates);
    const holdings = new Holdings(underWay);
    const served: C[] = [];
    const taken = new Map<C, number>();
    while (served.length < slots + reserved) {
      const freeAfter = slots - served.length - 1;
      const next = candidates
        .filter(
          (candidate) =>
            (taken.get(candidate) ?? 0) < (candidate.slotsMax ?? Number.POSITIVE_INFINITY) &&
            holdings.isBelowRate(candidate) &&
            (holdings.mayTakeOneMore(candidate, freeAfter) || holdings.mayTakeReserved(candidate)),
        )
        .reduce<C | null>(
          (best, candidate) =>
            best === null || this.compare(candidate, best, holdings) < 0 ? candidate : best,
          null,
        );
      if (next === null) break;
      served.push(next);
      raise(taken, next);
      this.turn += 1;
      this.servedAt.set(notificationScopeKeyOf(next), this.turn);
      holdings.add(next);
    }
    return served;
  }

  private compare(a: Candidate, b: Candidate, holdings: Holdings): number {
    const of = (candidate: Candidate): readonly number[] => [
      ...holdings.of(candidate),
      this.servedAt.get(notificationScopeKeyOf(candidate)) ?? 0,
    ];
    const ofB = of(b);
    const difference = of(a).map((value, index) => value - (ofB[index] ?? 0));
    return difference.find((value) => value !== 0) ?? 0;
  }

  /** Keeps the map as small as the list of candidates. */
  private forgetAllBut(candidates: readonly Candidate[]): void {
    const current = new Set(candidates.map(notificationScopeKeyOf));
    for (const part of this.servedAt.keys()) if (!current.has(part)) this.servedAt.delete(part);
  }
}

class Holdings {
  private readonly byClient = new Map<number, number>();
  private readonly urgentByClient = new Map<number, number>();
  private readonly urgentByScope = new Map<string, number>();
  private readonly byNotification = new Map<string, number>();
  private readonly byScope = new Map<string, number>();
  private readonly byNotificationScope = new Map<string, number>();

  constructor(underWay: readonly Holder[]) {
    for (const holder of underWay) this.add(holder);
  }

  add(holder: Holder): void {
    raise(this.byClient, holder.clientId);
    raise(this.byNotification, holder.notificationId);
    raise(this.byScope, scopeKeyOf(holder));
    raise(this.byNotificationScope, notificationScopeKeyOf(holder));
    if (!holder.isUrgent) return;
    raise(this.urgentByClient, holder.clientId);
    raise(this.urgentByScope, scopeKeyOf(holder));
  }

  /** Slots of its client, of that one's urgency by weight, of its notification, of its scope. */
  of(candidate: Candidate): readonly [number, number, number, number, number] {
    const ofClient = this.byClient.get(candidate.clientId) ?? 0;
    const urgent = this.urgentByClient.get(candidate.clientId) ?? 0;
    return [
      ofClient,
      candidate.isUrgent ? urgent / URGENT_PER_OTHER : ofClient - urgent,
      candidate.isUrgent ? 0 : 1,
      this.byNotification.get(candidate.notificationId) ?? 0,
      this.byScope.get(scopeKeyOf(candidate)) ?? 0,
    ];
  }

  /** `freeAfter`: the slots that are free then; less than none if it is a reserved one. */
  mayTakeOneMore(candidate: Candidate, freeAfter: number): boolean {
    const held = this.byScope.get(scopeKeyOf(candidate)) ?? 0;
    return freeAfter >= 0 && (held === 0 || held + 1 <= HELD_PER_FREE_MAX * freeAfter);
  }

  /** Whether one more task could make it faster, as far as its rate goes. */
  isBelowRate(candidate: Candidate): boolean {
    const { ratePerSecond } = candidate;
    if (ratePerSecond === null) return true;
    const held = this.byNotificationScope.get(notificationScopeKeyOf(candidate)) ?? 0;
    return held < SLOTS_BESIDE_RATE + ratePerSecond / RATE_PER_SLOT;
  }

  /** One for each scope, whatever else the scope holds: a provider that hangs gets no more. */
  mayTakeReserved(candidate: Candidate): boolean {
    return candidate.isUrgent && !this.urgentByScope.has(scopeKeyOf(candidate));
  }
}

function raise<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
