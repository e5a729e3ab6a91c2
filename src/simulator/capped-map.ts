/** A map that remembers only its newest keys, so that nothing a peer sends can grow the simulator for ever. */

export class CappedMap<V> {
  readonly #values = new Map<string, V>();
  /** Keys in the order they came, as a ring: deleting a Map's first key again and again is slow. */
  readonly #ring: string[] = [];
  readonly #sizeMax: number;
  #next = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  /** Sets the value; a new key takes the place of the oldest when the map is full. */
  set(key: string, value: V): void {
    if (!this.#values.has(key)) {
      const oldest = this.#ring[this.#next];
      if (oldest !== undefined) this.#values.delete(oldest);
      this.#ring[this.#next] = key;
      this.#next = (this.#next + 1) % this.#sizeMax;
    }
    this.#values.set(key, value);
  }

  clear(): void {
    this.#values.clear();
    this.#ring.length = 0;
    this.#next = 0;
  }
}
