/**
 * Who gets the free slots: the tenant with the least under way, of its notifications the one with
 * the least, of that one's scopes the one with the least, and among equals who was served longest
 * ago. So ten million devices of one notification never keep "goal!" waiting for more than the next
 * free slot. And no scope may take them all: a provider that answers nothing holds its slots until
 * its time-outs, and those of other tenants and platforms are to go on meanwhile.
 */

import { scopeKeyOf } from '../../domain/device.ts';

/** Something that could use a slot. */
export interface Candidate {
  readonly notificationId: string;
  readonly clientId: number;
  readonly appId: number;
  readonly platformId: number;
}

/**
 * A scope may hold so many times what it leaves free: alone two thirds of all slots, and each
 * further one that hangs two thirds of what the others left. (Dynamic thresholds, as switches share
 * their buffers: Choudhury and Hahne, 1998.)
 */
const HELD_PER_FREE_MAX = 2;

export class Allotment {
  private readonly servedAt = new Map<string, number>();
  private turn = 0;

  /**
   * The candidates in the order in which they are served, one entry a slot. `underWay`: what holds
   * slots already.
   */
  share<C extends Candidate>(
    candidates: readonly C[],
    underWay: readonly Candidate[],
    slots: number,
  ): readonly C[] {
    this.forgetAllBut(candidates);
    const holdings = new Holdings(underWay);
    const served: C[] = [];
    while (served.length < slots) {
      const freeAfter = slots - served.length - 1;
      const next = candidates
        .filter((candidate) => holdings.mayTakeOneMore(candidate, freeAfter))
        .reduce<C | null>(
          (best, candidate) =>
            best === null || this.compare(candidate, best, holdings) < 0 ? candidate : best,
          null,
        );
      if (next === null) break;
      served.push(next);
      this.turn += 1;
      this.servedAt.set(partOf(next), this.turn);
      holdings.add(next);
    }
    return served;
  }

  private compare(a: Candidate, b: Candidate, holdings: Holdings): number {
    const of = (candidate: Candidate): readonly number[] => [
      ...holdings.of(candidate),
      this.servedAt.get(partOf(candidate)) ?? 0,
    ];
    const ofB = of(b);
    const difference = of(a).map((value, index) => value - (ofB[index] ?? 0));
    return difference.find((value) => value !== 0) ?? 0;
  }

  /** Bounded by what can be claimed now. */
  private forgetAllBut(candidates: readonly Candidate[]): void {
    const current = new Set(candidates.map(partOf));
    for (const part of this.servedAt.keys()) if (!current.has(part)) this.servedAt.delete(part);
  }
}

const partOf = (candidate: Candidate): string =>
  `${candidate.notificationId} ${scopeKeyOf(candidate)}`;

/** Slots by who holds them. */
class Holdings {
  private readonly byClient = new Map<number, number>();
  private readonly byNotification = new Map<string, number>();
  private readonly byScope = new Map<string, number>();

  constructor(underWay: readonly Candidate[]) {
    for (const candidate of underWay) this.add(candidate);
  }

  add(candidate: Candidate): void {
    raise(this.byClient, candidate.clientId);
    raise(this.byNotification, candidate.notificationId);
    raise(this.byScope, scopeKeyOf(candidate));
  }

  /** Of its tenant, its notification and its scope. */
  of(candidate: Candidate): readonly [number, number, number] {
    return [
      this.byClient.get(candidate.clientId) ?? 0,
      this.byNotification.get(candidate.notificationId) ?? 0,
      this.byScope.get(scopeKeyOf(candidate)) ?? 0,
    ];
  }

  mayTakeOneMore(candidate: Candidate, freeAfter: number): boolean {
    const held = this.byScope.get(scopeKeyOf(candidate)) ?? 0;
    return held === 0 || held + 1 <= HELD_PER_FREE_MAX * freeAfter;
  }
}

function raise<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
