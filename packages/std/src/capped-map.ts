/**
 * A map with a limit on its keys, or on the weight of its values: the values set longest ago make
 * room. All that is remembered of strangers' requests is in such maps, so that no stranger can fill
 * the memory.
 */

interface Entry<K, V> {
  readonly key: K;
  readonly value: V;
  readonly weight: number;
  older: Entry<K, V> | null;
  newer: Entry<K, V> | null;
}

export interface CappedMapLimits {
  /** Keys. */
  readonly sizeMax?: number;
  /** Sum of all weights. */
  readonly weightMax?: number;
}

export class CappedMap<K, V> {
  readonly #sizeMax: number;
  readonly #weightMax: number;
  readonly #entries = new Map<K, Entry<K, V>>();
  // The order is a list of its own: to find the first key of a full Map that changes all the time
  // took 100 µs at 50,000 keys, because each search walks over the places of deleted keys.
  #oldest: Entry<K, V> | null = null;
  #newest: Entry<K, V> | null = null;
  #weight = 0;

  constructor({ sizeMax = Infinity, weightMax = Infinity }: CappedMapLimits) {
    this.#sizeMax = sizeMax;
    this.#weightMax = weightMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The weight of all values in the map. */
  get weight(): number {
    return this.#weight;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Keeps the value as the newest one, which stays even if it is too heavy. */
  set(key: K, value: V, weight = 0): void {
    this.delete(key);
    const entry: Entry<K, V> = { key, value, weight, older: this.#newest, newer: null };
    if (this.#newest === null) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
    this.#entries.set(key, entry);
    this.#weight += weight;
    while (this.#oldest !== null && this.#oldest !== entry && this.#isTooMuch()) {
      this.delete(this.#oldest.key);
    }
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    const { older, newer } = entry;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    // A deleted entry must not keep others alive in memory (decision 35).
    entry.older = null;
    entry.newer = null;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }

  clear(): void {
    this.#entries.clear();
    this.#oldest = null;
    this.#newest = null;
    this.#weight = 0;
  }

  #isTooMuch(): boolean {
    return this.#entries.size > this.#sizeMax || this.#weight > this.#weightMax;
  }
}
