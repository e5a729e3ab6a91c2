/**
 * Who gets the free slots: the tenant with the least under way, of its notifications the one with the least, and among
 * equals who was served longest ago. So ten million devices of one notification never keep "goal!" waiting for more than
 * the next free slot.
 */

/** Something that could use a slot. */
export interface Candidate {
  readonly notificationId: string;
  readonly clientId: number;
}

export class Allotment {
  private readonly servedAt = new Map<string, number>();
  private turn = 0;

  /** The candidates in the order in which they are served, one entry a slot. `underWay`: what holds slots already. */
  share<C extends Candidate>(
    candidates: readonly C[],
    underWay: readonly Candidate[],
    slots: number,
  ): readonly C[] {
    this.forgetAllBut(candidates);
    const byNotification = countBy(underWay, ({ notificationId }) => notificationId);
    const byClient = countBy(underWay, ({ clientId }) => clientId);
    const served: C[] = [];
    while (served.length < slots && candidates.length > 0) {
      const next = candidates.reduce((best, candidate) =>
        this.compare(candidate, best, byClient, byNotification) < 0 ? candidate : best,
      );
      served.push(next);
      this.turn += 1;
      this.servedAt.set(next.notificationId, this.turn);
      byNotification.set(next.notificationId, (byNotification.get(next.notificationId) ?? 0) + 1);
      byClient.set(next.clientId, (byClient.get(next.clientId) ?? 0) + 1);
    }
    return served;
  }

  private compare(
    a: Candidate,
    b: Candidate,
    byClient: ReadonlyMap<number, number>,
    byNotification: ReadonlyMap<string, number>,
  ): number {
    const of = ({ notificationId, clientId }: Candidate): readonly number[] => [
      byClient.get(clientId) ?? 0,
      byNotification.get(notificationId) ?? 0,
      this.servedAt.get(notificationId) ?? 0,
    ];
    const ofB = of(b);
    const difference = of(a).map((value, index) => value - (ofB[index] ?? 0));
    return difference.find((value) => value !== 0) ?? 0;
  }

  /** Bounded by what can be claimed now. */
  private forgetAllBut(candidates: readonly Candidate[]): void {
    const current = new Set(candidates.map(({ notificationId }) => notificationId));
    for (const id of this.servedAt.keys()) if (!current.has(id)) this.servedAt.delete(id);
  }
}

function countBy<K>(candidates: readonly Candidate[], keyOf: (c: Candidate) => K): Map<K, number> {
  const counts = new Map<K, number>();
  for (const candidate of candidates) {
    const key = keyOf(candidate);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
