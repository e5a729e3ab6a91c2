/**
 * The dynamic table (RFC 7541, 2.3.2, 4): the latest fields that one side wrote, limited in octets.
 * The oldest is evicted first.
 */

import type { Field } from './field.ts';
import { fieldSize } from './field.ts';

/** The size of a table before any SETTINGS (RFC 9113, 6.5.2). */
export const INITIAL_TABLE_SIZE_MAX = 4_096;

/** Called for each entry that is evicted, with the number that `insert` gave it. */
type OnEvicted = (entry: Field, number: number) => void;

/** Entries are numbered in the order of insertion, from 0; the newest has index 1. */
export class DynamicTable {
  /**
   * Rises whenever the meaning of an index may have changed: insertion, eviction, change of size.
   */
  epoch = 0;
  /** The octets of all entries. */
  size = 0;
  sizeMax: number;
  /** Entry `number` lies at `number & (length - 1)`: a ring whose length is a power of two. */
  #ring: (Field | undefined)[] = new Array(RING_LENGTH_MIN).fill(undefined);
  #inserted = 0;
  #evicted = 0;
  readonly #onEvicted: OnEvicted;

  constructor(sizeMax: number, onEvicted: OnEvicted = () => {}) {
    this.sizeMax = sizeMax;
    this.#onEvicted = onEvicted;
  }

  get length(): number {
    return this.#inserted - this.#evicted;
  }

  /** The entry with the dynamic index `index`, 1 for the newest. */
  get(index: number): Field | undefined {
    if (index < 1 || index > this.length) return undefined;
    return this.#ring[(this.#inserted - index) & (this.#ring.length - 1)];
  }

  /** The present index of the entry with this number. */
  indexOf(number: number): number {
    return this.#inserted - number;
  }

  /**
   * Evicts until the entry fits, then inserts it and returns its number. An entry larger than the
   * table leaves the table empty, which is not an error (4.4); this returns null then.
   */
  insert(entry: Field): number | null {
    const size = fieldSize(entry.name, entry.value);
    this.#evictTo(this.sizeMax - size);
    if (size > this.sizeMax) return null;
    if (this.length === this.#ring.length) this.#grow();
    const number = this.#inserted;
    this.#ring[number & (this.#ring.length - 1)] = entry;
    this.#inserted += 1;
    this.size += size;
    this.epoch += 1;
    return number;
  }

  /** Evicts entries that no longer fit (4.3). */
  setSizeMax(octets: number): void {
    this.sizeMax = octets;
    this.epoch += 1;
    this.#evictTo(octets);
  }

  #evictTo(size: number): void {
    while (this.size > size && this.length > 0) {
      const place = this.#evicted & (this.#ring.length - 1);
      const entry = this.#ring[place];
      if (entry === undefined) return;
      this.#ring[place] = undefined;
      this.size -= fieldSize(entry.name, entry.value);
      this.epoch += 1;
      this.#onEvicted(entry, this.#evicted);
      this.#evicted += 1;
    }
  }

  #grow(): void {
    const length = this.#ring.length * 2;
    const ring = new Array<Field | undefined>(length).fill(undefined);
    for (let number = this.#evicted; number < this.#inserted; number += 1) {
      ring[number & (length - 1)] = this.#ring[number & (this.#ring.length - 1)];
    }
    this.#ring = ring;
  }
}

/** Enough for the peers of a push sender: they keep one or two dozen fields. */
const RING_LENGTH_MIN = 32;
