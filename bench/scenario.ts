/** A scenario, and the stage that it plays on: everything that it starts there is ended with it. */

import type { Lifetime } from '../test/support/lifetime.ts';

/**
 * One measured line; all rows of a scenario have the same keys. Units stand at the end of each key.
 * Null: says nothing here.
 */
export type Row = Readonly<Record<string, string | number | null>>;

/** Numbers drawn from several rows; null: one of the rows is not there. */
export type Ratios = Readonly<Record<string, number | null>>;

export interface Result {
  readonly rows: readonly Row[];
  readonly ratios?: Ratios;
  /**
   * Further figures of a target: each at the top level of the results' file, numbers or a few of
   * them by name.
   */
  readonly figures?: Readonly<Record<string, number | null | Ratios>>;
}

/** Further arguments of the command line, beside the scenarios' names; null: none. */
export interface Options {
  readonly minutes: number | null;
  readonly store: string | null;
  /** Sends that wait at once, at most. */
  readonly waiting: number | null;
}

export interface Scenario {
  readonly summary: string;
  /** Takes so long that it is run by its name only. */
  readonly isLong?: true;
  run(stage: Lifetime, options: Options): Promise<Result>;
  /** Parts that can be run alone. */
  readonly parts?: Readonly<Record<string, Scenario['run']>>;
}

export class Stage implements Lifetime {
  private readonly ends: (() => unknown)[] = [];
  private closing: Promise<void> | null = null;

  teardown(end: () => unknown): void {
    this.ends.push(end);
  }

  /** Closes once: at the scenario's end or a signal. */
  close(): Promise<void> {
    this.closing ??= this.endAll();
    return this.closing;
  }

  private async endAll(): Promise<void> {
    for (let end = this.ends.pop(); end !== undefined; end = this.ends.pop()) await end();
  }
}
