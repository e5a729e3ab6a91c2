/** Which file runs next, and in which lane. */

import type { Stores } from './assignment.ts';

export interface Job {
  readonly file: string;
  readonly stores: Stores;
  /** How long it took last time; files that are not known come first. */
  readonly knownMs: number | null;
  /**
   * The shared resource that is expensive to open, like a browser: such files go to one lane, where
   * it is opened once. Null: none.
   */
  readonly home: string | null;
  /** It changes what its process has only once: it gets a process of its own. */
  readonly isAlone: boolean;
}

/** An idle lane takes a file of a home that has so many left: it has to open the same thing. */
const LEFT_AT_HOME_MIN = 2;

/** Hands out jobs, the longest first: what comes last should be short. */
export class Schedule {
  readonly #common: Job[];
  readonly #homes: { readonly name: string; readonly jobs: Job[] }[] = [];
  readonly #ownerOf = new Map<string, number>();

  constructor(jobs: readonly Job[]) {
    const sorted = [...jobs].sort((a, b) => weight(b) - weight(a));
    this.#common = sorted.filter(({ home }) => home === null);
    for (const name of new Set(jobs.flatMap(({ home }) => home ?? []))) {
      this.#homes.push({ name, jobs: sorted.filter(({ home }) => home === name) });
    }
    this.#homes.sort((a, b) => sum(b.jobs) - sum(a.jobs));
  }

  /** The next job of a lane; null: there is none any more. */
  next(lane: number): Job | null {
    const own = this.#homes.find(({ name, jobs }) => jobs.length > 0 && this.#isHome(name, lane));
    if (own !== undefined) return own.jobs.shift() ?? null;
    const common = this.#common.shift();
    if (common !== undefined) return common;
    const foreign = this.#homes.find(({ jobs }) => jobs.length >= LEFT_AT_HOME_MIN);
    return foreign?.jobs.shift() ?? null;
  }

  #isHome(name: string, lane: number): boolean {
    const owner = this.#ownerOf.get(name);
    if (owner !== undefined) return owner === lane;
    const isBusy = this.#homes.some(
      (one) => one.jobs.length > 0 && this.#ownerOf.get(one.name) === lane,
    );
    if (isBusy) return false;
    this.#ownerOf.set(name, lane);
    return true;
  }
}

const weight = ({ knownMs }: Job): number => knownMs ?? Number.POSITIVE_INFINITY;

const sum = (jobs: readonly Job[]): number =>
  jobs.reduce((total, { knownMs }) => total + (knownMs ?? 0), 0);
