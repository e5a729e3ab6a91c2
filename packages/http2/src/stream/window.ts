/**
 * The arithmetic of flow control (RFC 9113, 5.2 and 6.9): how much may be sent, and how much the
 * peer may still send.
 */

import { WINDOW_OCTETS_MAX } from '../frame/settings.ts';

/**
 * A window for sending after an increment or a changed INITIAL_WINDOW_SIZE; null: it would be above
 * the maximum (6.9.1).
 */
export function grownWindow(octets: number, increment: number): number | null {
  const grown = octets + increment;
  return grown > WINDOW_OCTETS_MAX ? null : grown;
}

/**
 * The used share of a window at which it is opened again. Not each frame: a series of small ones
 * would be answered by a series of WINDOW_UPDATEs. Not half of 65,535: then one update at a time
 * would be under way, and a distant peer could use half of the window at most (decision 26).
 */
const REOPENED_SHARE = 1 / 8;

/** The octets that the peer may send to us. All that flow control covers counts, padding too. */
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
    if (this.#used < this.#octets * REOPENED_SHARE) return 0;
    const increment = this.#used;
    this.#used = 0;
    return increment;
  }

  /** Opens all of it, for a new stream. */
  reset(): void {
    this.#used = 0;
  }
}
