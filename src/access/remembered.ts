/**
 * Remembers callers by what they present, accepted or refused. An answer holds under one revision
 * of the database (revision.ts): a right taken away is refused within a second on every node.
 */

import { hash, randomBytes } from 'node:crypto';
import type { CappedMapLimits } from '../../packages/std/src/capped-map.ts';
import { CappedMap } from '../../packages/std/src/capped-map.ts';
import { KnownRevision } from './revision.ts';

/**
 * About 200 bytes each. Kept apart: invented credentials displace no others.
 * @limit refused credentials remembered, and as many tokens of no session → the oldest is
 * forgotten: the database is asked
 */
const REFUSED_MAX = 10_000;
/**
 * A new credential does not raise the revision, so a refused one may be valid after this time.
 * @limit a refused credential or token is remembered for → the database is asked
 */
const REFUSED_MS = 2_000;

export interface Finding<Row> {
  /** Null: there is none. */
  readonly row: Row | null;
  /** The revision under which this holds. */
  readonly revision: string;
}

export type Judgement<Known, Shelf extends string> =
  | { readonly known: Known; readonly shelf: 'refused' }
  | {
      readonly known: Known;
      readonly shelf: Shelf;
      readonly keptMs: number;
      readonly weight: number;
    };

interface Entry<Known> {
  readonly known: Known;
  readonly revision: string;
  /** The entry is not used after this time. */
  readonly untilMs: number;
}

interface RememberedOptions<Shelf extends string> {
  /** Entries make room for others of their shelf only. */
  readonly shelves: Readonly<Record<Shelf, CappedMapLimits>>;
  /** Monotonic: with a system clock that is set back, a revoked credential would work on. */
  monotonicMs(): number;
  readRevision(): Promise<string>;
}

export class Remembered<Known, Shelf extends string> {
  readonly #now: () => number;
  readonly #revision: KnownRevision;
  readonly #shelves: ReadonlyMap<Shelf | 'refused', CappedMap<string, Entry<Known>>>;
  /** Remembered by a salted digest: no secret stays in memory, and comparisons reveal nothing. */
  readonly #salt = randomBytes(32).toString('base64');

  constructor({ shelves, monotonicMs, readRevision }: RememberedOptions<Shelf>) {
    this.#now = monotonicMs;
    this.#revision = new KnownRevision(readRevision, monotonicMs);
    const limits: Readonly<Record<string, CappedMapLimits>> = {
      ...shelves,
      refused: { sizeMax: REFUSED_MAX },
    };
    this.#shelves = new Map(
      Object.entries(limits).map(([shelf, limit]) => [shelf as Shelf, new CappedMap(limit)]),
    );
  }

  /** The answer from memory. Null: the store has to be asked. */
  recall(presented: string): Known | null {
    const entry = this.#entryOf(this.#keyOf(presented));
    if (entry === null || this.#now() >= entry.untilMs) return null;
    return this.#revision.holds(entry.revision) ? entry.known : null;
  }

  async ask<Row>(
    presented: string,
    find: () => Promise<Finding<Row>>,
    judge: (row: Row | null) => Judgement<Known, Shelf>,
  ): Promise<Known> {
    const askedAtMs = this.#now();
    const { row, revision } = await find();
    this.#revision.stand(revision, askedAtMs);
    const key = this.#keyOf(presented);
    for (const shelf of this.#shelves.values()) shelf.delete(key);
    const judgement = judge(row);
    const { keptMs, weight } =
      'keptMs' in judgement ? judgement : { keptMs: REFUSED_MS, weight: 0 };
    const entry = { known: judgement.known, revision, untilMs: askedAtMs + keptMs };
    this.#shelves.get(judgement.shelf)?.set(key, entry, weight);
    return judgement.known;
  }

  #entryOf(key: string): Entry<Known> | null {
    for (const shelf of this.#shelves.values()) {
      const entry = shelf.get(key);
      if (entry !== undefined) return entry;
    }
    return null;
  }

  #keyOf(presented: string): string {
    return hash('sha256', this.#salt + presented, 'base64');
  }
}
