/** The name of this database's index in Redis: another one when the database is another. */

import type { Sql } from '../../database/sql.ts';
import type { Clock } from '../../std/clock.ts';
import { readLineage } from '../groups/lineage.ts';

/** Least time between two reads: each stale group may ask for one. */
const LOOK_EVERY_MS = 1_000;

/** For users that only read the name. */
export type NameOfIndex = Pick<IndexName, 'current' | 'doubt'>;

export class IndexName {
  readonly #sql: Sql;
  readonly #clock: Clock;
  #current: string;
  #lookedAtMs: number;

  private constructor(sql: Sql, clock: Clock, current: string) {
    this.#sql = sql;
    this.#clock = clock;
    this.#current = current;
    this.#lookedAtMs = clock.monotonicMs();
  }

  static async read(sql: Sql, clock: Clock): Promise<IndexName> {
    return new IndexName(sql, clock, (await readLineage(sql)).name);
  }

  get current(): string {
    return this.#current;
  }

  /** Called when a group is stale: perhaps the index has another name by now. */
  async doubt(): Promise<void> {
    if (this.#clock.monotonicMs() - this.#lookedAtMs >= LOOK_EVERY_MS) await this.reread();
  }

  async reread(): Promise<void> {
    this.#lookedAtMs = this.#clock.monotonicMs();
    this.#current = (await readLineage(this.#sql)).name;
  }
}
