/**
 * The facets of values. Nearly every registration names values that are remembered; a new one is
 * made at once, while there is room: the credential of an app is public, so both how many there are
 * and how fast they come have limits.
 */

import { CappedMap } from '../../packages/std/src/capped-map.ts';
import { faultOf, isLockTimeout } from '../database/faults.ts';
import type { SqlPool } from '../database/sql.ts';
import type { Attribute, FacetId } from '../domain/attributes.ts';
import { valuesMaxOf } from '../domain/attributes.ts';
import { Batcher } from '../std/batcher.ts';
import { TokenBuckets } from '../std/token-buckets.ts';
import type { AttributeValue, FoundValue } from './sql/values.ts';
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

/** @limit values that wait for being looked up → not set, for now */
const WAITING_MAX = 50_000;
/** @limit values of a client that wait for being made → not set, for now */
const UNMADE_PER_CLIENT_MAX = 5_000;

/** @limit new values without room that a node remembers for 10 s → looked up again */
const WITHOUT_ROOM_MAX = 10_000;

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

/** Null: there is no room for a new one. `later`: it cannot be had now. */
type Found = FacetId | 'later' | null;

type Stored = FoundValue | null;

interface Unmade {
  readonly wanted: WantedValue;
  /** One that is old: only when it is touched it is certain to stay. */
  readonly stored: Stored;
}

interface Maker {
  readonly batcher: Batcher<Unmade, Found>;
  waiting: number;
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
  readonly #lookUps: Batcher<WantedValue, Stored>;
  #waiting = 0;
  /** Keyed by client, while values of it are made: who holds a client's row stops no other one. */
  readonly #makers = new Map<number, Maker>();
  readonly #rates: TokenBuckets;
  /** Values without room, by app, and until when the node does not ask. */
  readonly #withoutRoom = new CappedMap<string, number>({ sizeMax: WITHOUT_ROOM_MAX });
  /** Attributes without room, by client, and until when the node does not ask. */
  readonly #full = new CappedMap<string, number>({ sizeMax: APPS_COUNTED_MAX });

  constructor(options: FacetDictionaryOptions) {
    const { sql, newValuesPerMinute = NEW_VALUES_PER_MINUTE, onNoRoom = () => {} } = options;
    this.#sql = sql;
    this.#onNoRoom = onNoRoom;
    this.#rates = new TokenBuckets({ perSecond: newValuesPerMinute, bucketsMax: APPS_COUNTED_MAX });
    this.#lookUps = new Batcher({
      itemsMax: LOOKED_UP_MAX,
      run: (values) => this.#findStored(values),
    });
  }

  /** The facet of a value as it was given, where it is at hand. */
  remembered(clientId: number, attributeId: number, given: string): FacetId | null {
    const known = this.#remembered.get(givenKey(clientId, attributeId, given));
    if (known === undefined || performance.now() - known.atMs > AGE_MS_MAX) return null;
    return known.facetId;
  }

  /** Looks the value up, or makes it. */
  async find(wanted: WantedValue, given: string): Promise<Found> {
    const untilMs = this.#withoutRoom.get(`${wanted.appId} ${keyOf(wanted)}`);
    if (untilMs !== undefined && untilMs > performance.now()) return null;
    if (this.#waiting >= WAITING_MAX) return 'later';
    this.#waiting += 1;
    try {
      const atMs = performance.now();
      const stored = await this.#lookUps.submit(wanted);
      const isAtHand = stored !== null && !stored.isOld;
      const facetId = isAtHand ? stored.id : await this.#keepOrMake({ wanted, stored });
      if (typeof facetId === 'number') {
        const key = givenKey(wanted.clientId, wanted.attribute.id, given);
        this.#remembered.set(key, { facetId, atMs });
      } else if (facetId === null) {
        this.#withoutRoom.set(`${wanted.appId} ${keyOf(wanted)}`, atMs + FULL_MS);
      }
      return facetId;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #findStored(all: readonly WantedValue[]): Promise<readonly Stored[]> {
    const byKey = new Map(all.map((wanted) => [keyOf(wanted), wanted]));
    const found = await findValues(this.#sql, [...byKey.values()].map(rowOf));
    const keys = [...byKey.keys()];
    const stored = new Map(found.map((value) => [keys[value.index], value]));
    return all.map((wanted) => stored.get(keyOf(wanted)) ?? null);
  }

  async #keepOrMake(item: Unmade): Promise<Found> {
    const maker = this.#makerOf(item.wanted.clientId);
    if (maker.waiting >= UNMADE_PER_CLIENT_MAX) return 'later';
    maker.waiting += 1;
    try {
      return await maker.batcher.submit(item);
    } finally {
      maker.waiting -= 1;
      if (maker.waiting === 0) this.#makers.delete(item.wanted.clientId);
    }
  }

  #makerOf(clientId: number): Maker {
    const known = this.#makers.get(clientId);
    if (known !== undefined) return known;
    const batcher = new Batcher<Unmade, Found>({
      itemsMax: LOOKED_UP_MAX,
      run: (items) => this.#settle(clientId, items),
    });
    const maker = { batcher, waiting: 0 };
    this.#makers.set(clientId, maker);
    return maker;
  }

  /** Answers `later` for all of them where the client is held: devices are set without them. */
  async #settle(clientId: number, items: readonly Unmade[]): Promise<readonly Found[]> {
    try {
      return await this.#makeAll(clientId, items);
    } catch (error) {
      if (!isLockTimeout(error) && faultOf(error) !== 'unavailable') throw error;
      return items.map(() => 'later');
    }
  }

  async #makeAll(clientId: number, items: readonly Unmade[]): Promise<readonly Found[]> {
    const facets = new Map<string, FacetId>();
    const old = items.flatMap(({ stored }) => (stored === null ? [] : [stored.id]));
    const kept = old.length === 0 ? null : await touchValues(this.#sql, [...new Set(old)]);
    for (const { wanted, stored } of items) {
      if (stored !== null && kept?.has(stored.id)) facets.set(keyOf(wanted), stored.id);
    }
    const missing = new Map(items.map(({ wanted }) => [keyOf(wanted), wanted]));
    for (const key of facets.keys()) missing.delete(key);
    const values = [...missing.values()].filter((value) => this.#mayBeMade(value));
    const wanted = values.map(({ attribute, value }) => ({
      attributeId: attribute.id,
      value,
      valuesMax: valuesMaxOf(attribute.type),
    }));
    const made = wanted.length === 0 ? [] : await makeValues(this.#sql, clientId, wanted);
    for (const [at, value] of values.entries()) this.#note(value, made[at] ?? null, facets);
    return items.map((item) => facets.get(keyOf(item.wanted)) ?? null);
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
