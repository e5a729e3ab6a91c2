/** Remembers what sends mean in ids at this moment: many parts of one are claimed together. */

import { CappedMap } from '../../../packages/std/src/capped-map.ts';
import type { Clock } from '../../std/clock.ts';

/**
 * The first part of a send on a node reads them in any case, so a device that was registered before
 * the push is reached.
 * @limit what the tests and languages of a send mean is kept on a node → read again: values that
 * appear while it runs count from then on
 */
const KEPT_MS = 1_000;
/**
 * @limit sends with tests or such languages for which it is kept on a node → the oldest is read
 * again
 */
const KEPT_MAX = 256;

interface Entry<T> {
  readonly untilMs: number;
  readonly of: Promise<T>;
}

export class KeptBriefly<T> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #entries = new CappedMap<string, Entry<T>>({ sizeMax: KEPT_MAX });

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Reads it where it is not kept. A read that fails is not kept. */
  async get(key: string, read: () => Promise<T>): Promise<T> {
    const nowMs = this.#clock.monotonicMs();
    const kept = this.#entries.get(key);
    if (kept !== undefined && nowMs < kept.untilMs) return kept.of;
    const entry = { untilMs: nowMs + KEPT_MS, of: read() };
    this.#entries.set(key, entry);
    // The ids may be many: they go with their time, and not only when others come.
    const forget = (): void => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    setTimeout(forget, KEPT_MS).unref();
    try {
      return await entry.of;
    } catch (error) {
      forget();
      throw error;
    }
  }
}
