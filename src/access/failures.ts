/**
 * Counts wrong credentials by address, to slow down guessing: 401 becomes 429. A right credential
 * is always served, also from such an address (internals/interface.md, "Callers").
 */

import { CappedMap } from '../../packages/std/src/capped-map.ts';
import { networkOf } from '../../packages/std/src/ip-address.ts';
import type { Guessed, Guesses } from './guesses.ts';

interface Window {
  readonly endsAtMs: number;
  failures: number;
}

/**
 * An app with an old key makes some.
 * @publisherLimit wrong credentials, and one-time links that do not exist, of one address (IPv6:
 * /64) in a minute → `429` for wrong ones; right ones are served
 */
const FAILURES_MAX = 30;
/**
 * @publisherLimit the window in which wrong credentials of an address are counted → counted again
 */
const WINDOW_MS = 60_000;
/**
 * Networks that are remembered, about 150 bytes each; beyond it the oldest is forgotten.
 * @limit addresses with failures remembered → the oldest is forgotten
 */
const ADDRESSES_MAX = 50_000;

export class Failures {
  /** Milliseconds of the monotonic clock. */
  readonly #now: () => number;
  readonly #guesses: Pick<Guesses, 'note'>;
  readonly #windows = new CappedMap<string, Window>({ sizeMax: ADDRESSES_MAX });

  constructor(
    monotonicMs: () => number = () => performance.now(),
    guesses: Pick<Guesses, 'note'> = { note: () => undefined },
  ) {
    this.#now = monotonicMs;
    this.#guesses = guesses;
  }

  /**
   * Notes a wrong credential or link. Returns how long the address must wait, or 0 while it has not
   * failed too often.
   */
  noteAndAskRetryAfterMs(address: string, what: Guessed = 'credential'): number {
    this.#guesses.note(what, address);
    const nowMs = this.#now();
    const network = networkOf(address);
    const known = this.#windows.get(network);
    const window =
      known !== undefined && nowMs < known.endsAtMs ? known : this.#open(network, nowMs);
    window.failures += 1;
    return window.failures > FAILURES_MAX ? window.endsAtMs - nowMs : 0;
  }

  #open(network: string, nowMs: number): Window {
    const window = { endsAtMs: nowMs + WINDOW_MS, failures: 0 };
    this.#windows.set(network, window);
    return window;
  }
}
