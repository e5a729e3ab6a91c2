/**
 * The arithmetic of flow control (RFC 9113, 5.2 and 6.9): how much may be sent, and how much the
 * peer may still send.
 */

import { WINDOW_OCTETS_MAX } from '../frame/settings.ts';

/**
 * A window for sending after an increment or a changed INITIAL_WINDOW_SIZE; null: larger than any
 * may be (6.9.1).
 */
export function grownWindow(octets: number, increment: number): number | null {
  const grown = octets + increment;
  return grown > WINDOW_OCTETS_MAX ? null : grown;
}

/**
 * The share of a window of a window is that is opened again at once. Not each frame, or a row of
 * small ones would be answered by a row of WINDOW_UPDATEs; not half of an odd 65,535, or one update
 * at a time is on its way, and a peer far away never has more than half of it under way (decision
 * 26).
 */
const REOPENED_SHARE = 1 / 8;

/** What the peer may send to us. Everything counts that flow control covers, padding too. */
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

  /** All of it, for a stream that begins. */
  reset(): void {
    this.#used = 0;
  }
}
