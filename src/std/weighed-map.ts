/** Values by key that are kept up to so many bytes together: those that were set longest ago make room. */

interface Weighed<V> {
  readonly value: V;
  readonly bytes: number;
}

export interface WeighedMapLimits {
  readonly bytesMax: number;
  /** Keys. */
  readonly sizeMax?: number;
}

export class WeighedMap<K, V> {
  readonly #bytesMax: number;
  readonly #sizeMax: number;
  /** The one set longest ago first. */
  readonly #entries = new Map<K, Weighed<V>>();
  #bytes = 0;

  constructor({ bytesMax, sizeMax = Infinity }: WeighedMapLimits) {
    this.#bytesMax = bytesMax;
    this.#sizeMax = sizeMax;
  }

  /** Of all values that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Keeps the value as the newest one, which stays however large it is. */
  set(key: K, value: V, bytes: number): void {
    this.delete(key);
    this.#entries.set(key, { value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      const isTooMuch = this.#entries.size > this.#sizeMax || this.#bytes > this.#bytesMax;
      if (!isTooMuch || oldest === key) return;
      this.delete(oldest);
    }
  }

  delete(key: K): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}
