/**
 * How many devices have each value of the attributes of a client. A request for a list of values
 * has the devices counted, in pieces, one walk at a time for a client; what was found serves for an
 * hour.
 */

import { CappedMap } from '../../packages/std/src/capped-map.ts';
import type { PatientReads } from '../database/patient-reads.ts';
import type { FacetId } from '../domain/attributes.ts';
import type { DeviceGroupKey } from '../domain/device-group-change.ts';
import { within } from '../std/within.ts';
import { BEFORE_ALL } from '../tag-index/groups/list-device-groups.ts';
import { countValues } from './sql/count-values.ts';

/**
 * From half of it on they are counted again in the background, when somebody asks.
 * @publisherLimit age of the counts in a list of values → counted again
 */
const AGE_MS_MAX = 3_600_000;
/**
 * Some 50,000 devices with a few values each: a tenth of a second of the database.
 * @limit device groups in which values are counted in one read → the next read
 */
const GROUPS_PER_READ = 6;
/** @limit a list of values waits for its counts → `503`, `Retry-After: 5`; they go on */
const WAIT_MS_MAX = 2_000;
/** @limit counts of values that a node remembers, of all clients → the oldest are counted again */
const COUNTS_MAX = 500_000;
/** @limit clients whose values a node counts at a time → the oldest count begins again */
const WALKS_MAX = 100;

type CountsOfValues = ReadonlyMap<FacetId, number>;

interface Known {
  readonly counts: CountsOfValues;
  readonly fromMs: number;
}

interface Walk {
  readonly clientId: number;
  readonly counts: Map<FacetId, number>;
  readonly fromMs: number;
  after: DeviceGroupKey;
  /** Answers whether it came to the end. Null: other reads had to go first. */
  going: Promise<boolean> | null;
}

interface ValueCountsOptions {
  readonly patientReads: PatientReads;
  readonly monotonicMs?: () => number;
  readonly groupsPerRead?: number;
  readonly waitMs?: number;
}

export class ValueCounts {
  readonly #patientReads: PatientReads;
  readonly #now: () => number;
  readonly #groupsPerRead: number;
  readonly #waitMs: number;
  readonly #known = new CappedMap<number, Known>({ weightMax: COUNTS_MAX });
  readonly #walks = new CappedMap<number, Walk>({ sizeMax: WALKS_MAX });

  constructor({ patientReads, monotonicMs, groupsPerRead, waitMs }: ValueCountsOptions) {
    this.#patientReads = patientReads;
    this.#now = monotonicMs ?? (() => performance.now());
    this.#groupsPerRead = groupsPerRead ?? GROUPS_PER_READ;
    this.#waitMs = waitMs ?? WAIT_MS_MAX;
  }

  /** A value that is not in it had no device. Null: they cannot be had now. */
  async of(clientId: number): Promise<CountsOfValues | null> {
    const known = this.#known.get(clientId);
    const ageMs = known === undefined ? Number.POSITIVE_INFINITY : this.#now() - known.fromMs;
    if (known !== undefined && ageMs < AGE_MS_MAX / 2) return known.counts;
    const going = this.#goOn(clientId);
    if (known !== undefined && ageMs < AGE_MS_MAX) {
      // If it fails, the next caller repeats it, and gets the error once these are too old.
      going.catch(() => {});
      return known.counts;
    }
    const hasEnded = await within(this.#waitMs, going, false);
    return hasEnded ? (this.#known.get(clientId)?.counts ?? null) : null;
  }

  /** One that other reads have stopped goes on where it was. */
  #goOn(clientId: number): Promise<boolean> {
    const begun = this.#walks.get(clientId);
    const isTooOld = begun?.going === null && this.#now() - begun.fromMs >= AGE_MS_MAX / 2;
    const walk = begun === undefined || isTooOld ? this.#begin(clientId) : begun;
    walk.going ??= this.#walk(walk).finally(() => {
      walk.going = null;
    });
    return walk.going;
  }

  #begin(clientId: number): Walk {
    const walk: Walk = {
      clientId,
      counts: new Map(),
      fromMs: this.#now(),
      after: BEFORE_ALL,
      going: null,
    };
    this.#walks.set(clientId, walk);
    return walk;
  }

  async #walk(walk: Walk): Promise<boolean> {
    const { clientId, counts, fromMs } = walk;
    for (;;) {
      const read = await this.#patientReads.run(clientId, (sql) =>
        countValues(sql, clientId, walk.after, this.#groupsPerRead),
      );
      if (read.kind === 'busy') return false;
      const piece = read.result;
      for (const [id, devices] of piece?.counts ?? []) {
        counts.set(id, (counts.get(id) ?? 0) + devices);
      }
      if (piece === null || piece.groups < this.#groupsPerRead) break;
      walk.after = piece;
    }
    this.#known.set(clientId, { counts, fromMs }, counts.size + 1);
    if (this.#walks.get(clientId) === walk) this.#walks.delete(clientId);
    return true;
  }
}
