/** What a scenario is, and the stage that it plays on: whatever it starts there is ended with it. */

import type { Lifetime } from '../test/support/lifetime.ts';

/** One measured line; all rows of a scenario have the same keys. Units stand at the end of each key. Null: says nothing here. */
export type Row = Readonly<Record<string, string | number | null>>;

/** Numbers drawn from several rows; null: one of the rows is not there. */
export type Ratios = Readonly<Record<string, number | null>>;

export interface Result {
  readonly rows: readonly Row[];
  readonly ratios?: Ratios;
  /** What else a target names: each at the top level of the results' file, numbers or a few of them by name. */
  readonly figures?: Readonly<Record<string, number | null | Ratios>>;
}

export interface Scenario {
  readonly summary: string;
  run(stage: Lifetime): Promise<Result>;
  /** What can be run alone. */
  readonly parts?: Readonly<Record<string, Scenario['run']>>;
}

export class Stage implements Lifetime {
  private readonly ends: (() => unknown)[] = [];

  teardown(end: () => unknown): void {
    this.ends.push(end);
  }

  async close(): Promise<void> {
    for (const end of this.ends.reverse()) await end();
  }
}
