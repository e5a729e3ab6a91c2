/** The arithmetic of flow control (RFC 9113, 5.2 and 6.9): how much may be sent, and how much the peer may still send. */

import { WINDOW_OCTETS_MAX } from '../frame/settings.ts';

/** A window for sending after an increment or a changed INITIAL_WINDOW_SIZE; null: larger than any may be (6.9.1). */
export function grownWindow(octets: number, increment: number): number | null {
  const grown = octets + increment;
  return grown > WINDOW_OCTETS_MAX ? null : grown;
}

/**
 * What the peer may send to us. Everything counts that flow control covers, padding too. It is opened again when half of it
 * is used, so that a row of small frames is not answered by a row of WINDOW_UPDATEs.
 */
export class ReceiveWindow {
  readonly #octets: number;
  #used = 0;

  constructor(octets: number) {
    this.#octets = octets;
  }

  /** False: the peer has sent more than it was allowed to. */
  take(octets: number): boolean {
    this.#used += octets;
    return this.#used <= this.#octets;
  }

  /** The increment for a WINDOW_UPDATE that is due now, or 0. */
  replenish(): number {
    if (this.#used * 2 < this.#octets) return 0;
    const increment = this.#used;
    this.#used = 0;
    return increment;
  }

  /** All of it, for a stream that begins. */
  reset(): void {
    this.#used = 0;
  }
}
