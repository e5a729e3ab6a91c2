/**
 * The facets of values. Nearly every registration names values that are remembered; a new one is
 * made at once, while there is room: the credential of an app is public, so both how many there are
 * and how fast they come have limits.
 */

import { CappedMap } from '../../packages/std/src/capped-map.ts';
import type { SqlPool } from '../database/sql.ts';
import type { Attribute, FacetId } from '../domain/attributes.ts';
import { valuesMaxOf } from '../domain/attributes.ts';
import { Batcher } from '../std/batcher.ts';
import { groupBy } from '../std/group-by.ts';
import { TokenBuckets } from '../std/token-buckets.ts';
import type { AttributeValue } from './sql/values.ts';
import { findValues, makeValues, touchValues } from './sql/values.ts';

/**
 * Some 200 octets each.
 * @limit values of attributes that a node remembers → looked up again
 */
const REMEMBERED_MAX = 200_000;
/**
 * Housekeeping deletes an unused value an hour after it was marked, at the earliest.
 * @limit age of a remembered value of an attribute → looked up again
 */
const AGE_MS_MAX = 600_000;
/** @limit values looked up in one query → the next query */
const LOOKED_UP_MAX = 1_000;
/**
 * @publisherLimit new values of attributes a minute that an app brings to a node → ignored, and
 * named
 */
const NEW_VALUES_PER_MINUTE = 600;
/** @limit apps whose new values are counted, in each of two generations → counted from zero */
const APPS_COUNTED_MAX = 10_000;
/** @limit an attribute that was full is asked again after */
const FULL_MS = 10_000;

/** Why a value has no facet. */
export type NoRoom = 'full' | 'rate';

export interface WantedValue {
  readonly clientId: number;
  readonly attribute: Attribute;
  /** In the form in which it is kept. */
  readonly value: string;
  /** The app whose new values are counted; null: the client's servers bring it. */
  readonly appId: number | null;
}

interface Remembered {
  readonly facetId: FacetId;
  readonly atMs: number;
}

interface FacetDictionaryOptions {
  readonly sql: SqlPool;
  readonly newValuesPerMinute?: number;
  onNoRoom?(why: NoRoom): void;
}

export class FacetDictionary {
  readonly #sql: SqlPool;
  readonly #onNoRoom: (why: NoRoom) => void;
  /** Keyed by client, attribute and the value as it was given. */
  readonly #remembered = new CappedMap<string, Remembered>({ sizeMax: REMEMBERED_MAX });
  readonly #lookUps: Batcher<WantedValue, FacetId | null>;
  readonly #rates: TokenBuckets;
  /** Attributes without room, by client, and until when the node does not ask. */
  readonly #full = new CappedMap<string, number>({ sizeMax: APPS_COUNTED_MAX });

  constructor(options: FacetDictionaryOptions) {
    const { sql, newValuesPerMinute = NEW_VALUES_PER_MINUTE, onNoRoom = () => {} } = options;
    this.#sql = sql;
    this.#onNoRoom = onNoRoom;
    this.#rates = new TokenBuckets({ perSecond: newValuesPerMinute, bucketsMax: APPS_COUNTED_MAX });
    this.#lookUps = new Batcher({
      itemsMax: LOOKED_UP_MAX,
      run: (values) => this.#lookUp(values),
    });
  }

  /** The facet of a value as it was given, where it is at hand. */
  remembered(clientId: number, attributeId: number, given: string): FacetId | null {
    const known = this.#remembered.get(givenKey(clientId, attributeId, given));
    if (known === undefined || performance.now() - known.atMs > AGE_MS_MAX) return null;
    return known.facetId;
  }

  /** Looks the value up, or makes it. Null: there is no room for a new one. */
  async find(wanted: WantedValue, given: string): Promise<FacetId | null> {
    const atMs = performance.now();
    const facetId = await this.#lookUps.submit(wanted);
    if (facetId !== null) {
      this.#remembered.set(givenKey(wanted.clientId, wanted.attribute.id, given), {
        facetId,
        atMs,
      });
    }
    return facetId;
  }

  async #lookUp(all: readonly WantedValue[]): Promise<readonly (FacetId | null)[]> {
    const byKey = new Map(all.map((wanted) => [keyOf(wanted), wanted]));
    const wanted = [...byKey.values()];
    const facets = await this.#findStored(wanted);
    const missing = wanted.filter((value) => !facets.has(keyOf(value)) && this.#mayBeMade(value));
    for (const [clientId, values] of groupBy(missing, (value) => value.clientId)) {
      const made = await makeValues(
        this.#sql,
        clientId,
        values.map(({ attribute, value }) => ({
          attributeId: attribute.id,
          value,
          valuesMax: valuesMaxOf(attribute.type),
        })),
      );
      for (const [at, value] of values.entries()) this.#note(value, made[at] ?? null, facets);
    }
    return all.map((value) => facets.get(keyOf(value)) ?? null);
  }

  async #findStored(wanted: readonly WantedValue[]): Promise<Map<string, FacetId>> {
    const found = await findValues(this.#sql, wanted.map(rowOf));
    const old = found.filter(({ isOld }) => isOld).map(({ id }) => id);
    const there = old.length === 0 ? null : await touchValues(this.#sql, old);
    const facets = new Map<string, FacetId>();
    for (const { index, id, isOld } of found) {
      const value = wanted[index];
      if (value === undefined || (isOld && there?.has(id) !== true)) continue;
      facets.set(keyOf(value), id);
    }
    return facets;
  }

  #mayBeMade({ clientId, attribute, appId }: WantedValue): boolean {
    const nowMs = performance.now();
    const fullUntilMs = this.#full.get(attributeKey(clientId, attribute.id));
    if (fullUntilMs !== undefined && fullUntilMs > nowMs) {
      this.#onNoRoom('full');
      return false;
    }
    // A bucket holds the tokens of a second: here of a minute.
    if (appId === null || this.#rates.take(`${appId}`, nowMs / 60)) return true;
    this.#onNoRoom('rate');
    return false;
  }

  #note(
    { clientId, attribute, value }: WantedValue,
    facetId: FacetId | null,
    facets: Map<string, FacetId>,
  ): void {
    if (facetId !== null) {
      facets.set(givenKey(clientId, attribute.id, value), facetId);
      return;
    }
    this.#full.set(attributeKey(clientId, attribute.id), performance.now() + FULL_MS);
    this.#onNoRoom('full');
  }
}

const attributeKey = (clientId: number, attributeId: number): string =>
  `${clientId}.${attributeId}`;

const givenKey = (clientId: number, attributeId: number, text: string): string =>
  `${clientId}.${attributeId}.${text}`;

const keyOf = ({ clientId, attribute, value }: WantedValue): string =>
  givenKey(clientId, attribute.id, value);

const rowOf = ({ clientId, attribute, value }: WantedValue): AttributeValue => ({
  clientId,
  attributeId: attribute.id,
  value,
});
