/**
 * Slows down guesses of passwords: attempts count for an account from one network, and for a
 * network over all accounts. No account is ever locked, so others' attempts change nothing for its
 * owner. Each node counts by itself; passwords.ts bounds all networks together.
 */

import { CappedMap } from '../../../packages/std/src/capped-map.ts';
import { networkOf, siteOf } from '../../../packages/std/src/ip-address.ts';

/**
 * Wrong passwords for one account from one network in a window. A person makes three.
 * @limit attempts at passwords in 15 min, for an account from one network → `429`
 */
const OF_ACCOUNT_MAX = 10;
/**
 * An office behind one address on a Monday.
 * @limit attempts at passwords in 15 min, from one network → `429`; not for accounts that have
 * signed in from there before
 */
const OF_NETWORK_MAX = 60;
/**
 * The same for one site, which has 65,536 IPv6 networks: at a provider, people share one.
 * @limit attempts at passwords in 15 min, from one site (IPv6: /48) → `429`; not for accounts that
 * have signed in from there before
 */
const OF_SITE_MAX = 240;
/**
 * Clients that an account makes in a window: someone who tries out needs one or two.
 * @limit clients that an account makes in 15 min → `429`
 */
const CLIENTS_MADE_MAX = 10;
/** @limit time in which attempts at passwords are counted → counted again */
const WINDOW_MS = 900_000;
/**
 * About 300 bytes each.
 * @limit accounts with networks, networks, sites, and accounts that make clients, that are
 * remembered → the oldest is forgotten
 */
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
  readonly #ofSite = new CappedMap<string, Window>({ sizeMax: REMEMBERED_MAX });
  readonly #clientsMade = new CappedMap<number, Window>({ sizeMax: REMEMBERED_MAX });
  /** Accounts and networks from where they have signed in. */
  readonly #known = new CappedMap<string, true>({ sizeMax: REMEMBERED_MAX });

  constructor(monotonicMs: () => number = () => performance.now()) {
    this.#now = monotonicMs;
  }

  /**
   * Counts an attempt before its password is looked at, so many at once are no way around. How long
   * the caller must wait instead; 0: it may go on. Whether the account exists makes no difference.
   */
  begin(email: string, address: string): number {
    const nowMs = this.#now();
    const network = networkOf(address);
    const pair = pairOf(email, network);
    const ofSite = this.#windowOf(this.#ofSite, siteOf(network), nowMs);
    const ofNetwork = this.#windowOf(this.#ofNetwork, network, nowMs);
    // Before the pair is remembered: one network must not make all others forgotten.
    if (!this.isKnown(email, address)) {
      if (ofSite.attempts >= OF_SITE_MAX) return ofSite.endsAtMs - nowMs;
      if (ofNetwork.attempts >= OF_NETWORK_MAX) return ofNetwork.endsAtMs - nowMs;
    }
    const ofAccount = this.#windowOf(this.#ofAccount, pair, nowMs);
    if (ofAccount.attempts >= OF_ACCOUNT_MAX) return ofAccount.endsAtMs - nowMs;
    for (const window of [ofSite, ofNetwork, ofAccount]) window.attempts += 1;
    return 0;
  }

  /** Whether the account has signed in from this network. */
  isKnown(email: string, address: string): boolean {
    return this.#known.get(pairOf(email, networkOf(address))) !== undefined;
  }

  /** The password of an attempt was never looked at: it does not count. */
  withdraw(email: string, address: string): void {
    const network = networkOf(address);
    takeBack(this.#ofSite.get(siteOf(network)));
    takeBack(this.#ofNetwork.get(network));
    takeBack(this.#ofAccount.get(pairOf(email, network)));
  }

  /** The password of an attempt was right: it and the ones before do not count. */
  succeeded(email: string, address: string): void {
    this.withdraw(email, address);
    const pair = pairOf(email, networkOf(address));
    this.#ofAccount.delete(pair);
    this.#known.set(pair, true);
  }

  /**
   * Counts a client that an account makes. Returns how long it must wait instead; 0: it may. The
   * account's password was right, so `succeeded` forgives the attempts and would slow down none.
   */
  makeClient(accountId: number): number {
    const nowMs = this.#now();
    const made = this.#windowOf(this.#clientsMade, accountId, nowMs);
    if (made.attempts >= CLIENTS_MADE_MAX) return made.endsAtMs - nowMs;
    made.attempts += 1;
    return 0;
  }

  #windowOf<K>(windows: CappedMap<K, Window>, key: K, nowMs: number): Window {
    const known = windows.get(key);
    if (known !== undefined && nowMs < known.endsAtMs) return known;
    const window = { endsAtMs: nowMs + WINDOW_MS, attempts: 0 };
    windows.set(key, window);
    return window;
  }
}

function takeBack(window: Window | undefined): void {
  if (window !== undefined && window.attempts > 0) window.attempts -= 1;
}

/** A network has no space. */
const pairOf = (email: string, network: string): string => `${network} ${email}`;
