/** How much each of many has used lately: it counts half as much after a while. */

import { CappedMap } from '../../packages/std/src/capped-map.ts';

interface RecentUseOptions {
  readonly halfLifeMs: number;
  /** Users that are remembered; those that used something longest ago are forgotten. */
  readonly usersMax: number;
}

interface Use {
  readonly amount: number;
  readonly atMs: number;
}

export class RecentUse {
  readonly #halfLifeMs: number;
  readonly #uses: CappedMap<number, Use>;

  constructor({ halfLifeMs, usersMax }: RecentUseOptions) {
    this.#halfLifeMs = halfLifeMs;
    this.#uses = new CappedMap({ sizeMax: usersMax });
  }

  /** `nowMs` is a monotonic clock. */
  add(user: number, amount: number, nowMs: number): void {
    this.#uses.set(user, { amount: this.of(user, nowMs) + amount, atMs: nowMs });
  }

  of(user: number, nowMs: number): number {
    const use = this.#uses.get(user);
    return use === undefined ? 0 : use.amount * 0.5 ** ((nowMs - use.atMs) / this.#halfLifeMs);
  }

  /** The one that has used least; of equals the first. Null: there is none. */
  least(users: Iterable<number>, nowMs: number): number | null {
    let least: number | null = null;
    let leastAmount = Number.POSITIVE_INFINITY;
    for (const user of users) {
      const amount = this.of(user, nowMs);
      if (amount >= leastAmount) continue;
      least = user;
      leastAmount = amount;
    }
    return least;
  }
}
