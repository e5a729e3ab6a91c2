/**
 * Slows down who tries passwords. Attempts are counted for an account from one network, and for a
 * network over all accounts. No account is ever locked: others' attempts from elsewhere change
 * nothing for its owner. How fast all networks together can try is bounded by passwords.ts.
 *
 * Each node counts by itself: with n nodes behind a balancer an attacker has up to n times as many.
 */

import { CappedMap } from '../../std/capped-map.ts';
import { networkOf } from '../../std/ip-address.ts';

/** Wrong passwords for one account from one network in a window. A person makes three. */
const OF_ACCOUNT_MAX = 10;
/**
 * From one network over all accounts: an office behind one address on a Monday. Who has signed in
 * from there before is not held up by it.
 */
const OF_NETWORK_MAX = 60;
const WINDOW_MS = 900_000;
/** Pairs, and networks, that are remembered, about 300 bytes each; the oldest is forgotten. */
const REMEMBERED_MAX = 20_000;

interface Window {
  readonly endsAtMs: number;
  attempts: number;
}

export class Attempts {
  /** Milliseconds of the monotonic clock. */
  readonly #now: () => number;
  readonly #ofAccount = new CappedMap<string, Window>({ sizeMax: REMEMBERED_MAX });
  readonly #ofNetwork = new CappedMap<string, Window>({ sizeMax: REMEMBERED_MAX });
  /** Accounts and networks from where they have signed in. */
  readonly #known = new CappedMap<string, true>({ sizeMax: REMEMBERED_MAX });

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#now = monotonicMs;
  }

  /**
   * Counts an attempt before its password is looked at, so that many at once are no way around.
   * Returns how long the caller must wait instead; 0: it may be made. Whether the account exists
   * makes no difference.
   */
  begin(email: string, address: string): number {
    const nowMs = this.#now();
    const network = networkOf(address);
    const pair = pairOf(email, network);
    const ofAccount = this.#windowOf(this.#ofAccount, pair, nowMs);
    const ofNetwork = this.#windowOf(this.#ofNetwork, network, nowMs);
    if (ofAccount.attempts >= OF_ACCOUNT_MAX) return ofAccount.endsAtMs - nowMs;
    const isKnown = this.#known.get(pair) !== undefined;
    if (ofNetwork.attempts >= OF_NETWORK_MAX && !isKnown) return ofNetwork.endsAtMs - nowMs;
    ofAccount.attempts += 1;
    ofNetwork.attempts += 1;
    return 0;
  }

  /** The password of an attempt was right: it and the ones before do not count. */
  succeeded(email: string, address: string): void {
    const network = networkOf(address);
    const pair = pairOf(email, network);
    const ofNetwork = this.#ofNetwork.get(network);
    if (ofNetwork !== undefined && ofNetwork.attempts > 0) ofNetwork.attempts -= 1;
    this.#ofAccount.delete(pair);
    this.#known.set(pair, true);
  }

  #windowOf(windows: CappedMap<string, Window>, key: string, nowMs: number): Window {
    const known = windows.get(key);
    if (known !== undefined && nowMs < known.endsAtMs) return known;
    const window = { endsAtMs: nowMs + WINDOW_MS, attempts: 0 };
    windows.set(key, window);
    return window;
  }
}

/** A network has no space. */
const pairOf = (email: string, network: string): string => `${network} ${email}`;
