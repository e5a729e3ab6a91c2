/**
 * The `authorization` values, one for each identity that signs, on all nodes (decision 24): APNs
 * counts how often a team renews its token. The main thread keeps them and gives them to workers.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { errorReason } from '../../packages/std/src/error-reason.ts';
import type { MintingRight, SharedToken } from '../domain/provider-token.ts';
import type { MintFailure } from './minted.ts';
import type { ProviderOrigins } from './origins.ts';
import { trustedAt } from './origins.ts';
import type { Minting, TrustedAt } from './provider.ts';
import type { ProviderCredential } from './providers.ts';
import { providerOf } from './providers.ts';

export type Authorization = { readonly ok: true; readonly value: string } | MintFailure;

interface TokenStore {
  read(identity: string, apartMs: number): Promise<SharedToken>;
  claim(identity: string, seenId: string | null, apartMs: number): Promise<MintingRight | null>;
  /** False: the right has expired, and the value must not be used. */
  keep(
    identity: string,
    right: MintingRight,
    minted: {
      readonly value: string;
      readonly refreshAtMs: number;
      readonly expiresAtMs: number;
    },
  ): Promise<boolean>;
  fail(
    identity: string,
    mintingId: string,
    failure: { readonly reason: string; readonly isFinal: boolean },
    pauseMs: number,
  ): Promise<void>;
  freeze(identity: string, forMs: number): Promise<void>;
}

/**
 * About 2 KiB each.
 * @limit authorizations remembered → the one unused for longest is forgotten
 */
const CREDENTIALS_MAX = 10_000;
/**
 * A broken account must not cause a storm of token requests.
 * @limit a failed sign-in answers everyone, on all nodes, for → asked again
 */
const FAILURE_LASTS_MS = 10_000;
/** @limit between looks for a newer token, when one was refused */
const LOOK_AGAIN_MS = 10_000;
/**
 * For longer than the other node's right lasts.
 * @limit between looks at another node that makes a token
 */
const AWAIT_OTHER_MS = 200;
/** @limit looks at another node that makes a token → a failed sign-in */
const LOOKS_MAX = 150;
/**
 * An account that got a token before: a single refusal proves nothing.
 * @limit refusals alike of an account that got a token before, until they are final → sends wait
 */
const REFUSALS_ALIKE = 3;
/** @limit time that they take at least → sends wait */
const REFUSALS_ALIKE_FOR_MS = 60_000;
/** A freeze that is prolonged by less than this is not written again. */
const FREEZES_APART_MS = 60_000;
/**
 * Providers refuse tokens from the future; such an early one still lasts until the next one may be
 * made.
 * @limit lag of a node's clock against the database's, accepted → the database's counts, less 30
 * min
 */
const CLOCK_BEHIND_MS_MAX = 30 * 60_000;

interface Held {
  readonly id: string;
  readonly value: string;
  readonly refreshAtMs: number;
  readonly expiresAtMs: number;
  /** When it was made, by this node's date: if that lies ahead, the clock was set back since. */
  readonly madeAtMs: number;
}

interface Entry {
  readonly identity: string;
  readonly apartMs: number;
  /** How long none is made after the provider got too many. Null: the provider never says so. */
  readonly freezeMs: number | null;
  held: Held | null;
  failure: { readonly value: MintFailure; readonly untilMs: number } | null;
  refusals: { readonly reason: string; readonly sinceMs: number; readonly count: number } | null;
  /** The id of the value that the provider has called expired. */
  refusedId: string | null;
  /** The renewal under way, of which there is one at most: all callers wait for it. */
  pending: Promise<void> | null;
  lookAgainAtMs: number;
  frozenUntilMs: number;
}

export class AuthorizationCache {
  readonly #origins: ProviderOrigins;
  readonly #trustedAt: TrustedAt;
  readonly #store: TokenStore;
  readonly #now: () => number;
  /** Keyed by identity: apps of one team with one key share a token. */
  readonly #entries = new Map<string, Entry>();
  /** Keyed by the caller's key, for `invalidate` and `freeze`. */
  readonly #keys = new Map<string, Entry>();

  constructor(
    origins: ProviderOrigins,
    store: TokenStore,
    monotonicMs: () => number = () => performance.now(),
  ) {
    this.#origins = origins;
    this.#trustedAt = (origin) => trustedAt(origin, origins);
    this.#store = store;
    this.#now = monotonicMs;
  }

  /** The value to send now; a new one is read or made when it is missing, ending or refused. */
  async current(key: string, credential: ProviderCredential): Promise<Authorization> {
    const provider = providerOf(credential);
    const minting = provider.minting(credential, this.#origins, this.#trustedAt);
    if (minting === null) return NONE_NEEDED;
    const freezeMs = provider.tooManyTokens?.pauseMs ?? null;
    const authorization = await this.#valueOf(this.#entryOf(key, minting, freezeMs), minting);
    return authorization.ok || !minting.isOptional ? authorization : NONE_NEEDED;
  }

  async #valueOf(entry: Entry, minting: Minting): Promise<Authorization> {
    if (this.#wantsLook(entry)) entry.pending ??= this.#renew(entry, minting);
    // While the old value works, callers do not wait for the new one.
    if (entry.pending !== null && !this.#works(entry)) await entry.pending;
    const { held } = entry;
    if (held !== null && this.#now() < held.expiresAtMs) return { ok: true, value: held.value };
    return entry.failure?.value ?? NOT_MADE;
  }

  /** Call it when a provider has called this value expired. */
  invalidate(key: string, value: string): void {
    const entry = this.#keys.get(key);
    if (entry === undefined || entry.held?.value !== value) return;
    entry.refusedId = entry.held.id;
  }

  /** Call it when a provider got too many tokens of this key: for a while no node makes another. */
  async freeze(key: string): Promise<void> {
    const entry = this.#keys.get(key);
    if (entry === undefined || entry.freezeMs === null) return;
    entry.refusedId = null;
    // Every refused task causes a call; it is enough to prolong the freeze once a minute.
    const untilMs = this.#now() + entry.freezeMs;
    if (untilMs - entry.frozenUntilMs < FREEZES_APART_MS) return;
    entry.frozenUntilMs = untilMs;
    await this.#store.freeze(entry.identity, entry.freezeMs);
  }

  #works(entry: Entry): boolean {
    // The provider refuses a token from the future, and the shared values have another one.
    if (entry.held !== null && entry.held.madeAtMs > Date.now()) entry.held = null;
    const { held, refusedId } = entry;
    return held !== null && held.id !== refusedId && this.#now() < held.expiresAtMs;
  }

  #wantsLook(entry: Entry): boolean {
    const nowMs = this.#now();
    if (nowMs < entry.lookAgainAtMs) return false;
    return !this.#works(entry) || entry.held === null || nowMs >= entry.held.refreshAtMs;
  }

  async #renew(entry: Entry, minting: Minting): Promise<void> {
    try {
      for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
        if (!(await this.#isLeftToOther(entry, minting))) break;
        await sleep(AWAIT_OTHER_MS);
      }
    } catch (error) {
      const reason = `the tokens that nodes share cannot be reached: ${errorReason(error)}`;
      this.#fail(entry, { ok: false, reason, retryable: true }, FAILURE_LASTS_MS);
    }
    entry.pending = null;
  }

  /** Takes the newest shared token, or makes the next. True: another node is making it. */
  async #isLeftToOther(entry: Entry, minting: Minting): Promise<boolean> {
    const { identity, apartMs, refusedId } = entry;
    const shared = await this.#store.read(identity, apartMs);
    this.#take(entry, shared);
    const isDue = shared.value === null || shared.refreshInMs <= 0 || shared.id === refusedId;
    if (!isDue) return false;
    if (shared.mintInMs <= 0) {
      const right = await this.#store.claim(identity, shared.id, apartMs);
      if (right !== null) return this.#make(entry, minting, right);
    } else if (!shared.isBeingMinted) {
      entry.lookAgainAtMs = this.#now() + Math.min(shared.mintInMs, LOOK_AGAIN_MS);
      return false;
    }
    if (!this.#works(entry)) return true;
    entry.lookAgainAtMs = this.#now() + AWAIT_OTHER_MS;
    return false;
  }

  #take(entry: Entry, shared: SharedToken): void {
    const { id, value, ageMs, refreshInMs, expiresInMs, failure } = shared;
    const nowMs = this.#now();
    if (id !== null && value !== null && id !== entry.held?.id) {
      this.#hold(entry, {
        id,
        value,
        refreshAtMs: nowMs + refreshInMs,
        expiresAtMs: nowMs + expiresInMs,
        madeAtMs: Date.now() - ageMs,
      });
    }
    if (failure === null) return;
    const { reason, isFinal, lastsMs } = failure;
    this.#fail(entry, { ok: false, reason, retryable: !isFinal }, lastsMs);
  }

  #hold(entry: Entry, held: Held): void {
    entry.held = held;
    entry.failure = null;
    entry.refusals = null;
    entry.lookAgainAtMs = 0;
  }

  #fail(entry: Entry, failure: MintFailure, lastsMs: number): void {
    const untilMs = this.#now() + lastsMs;
    entry.failure = { value: failure, untilMs };
    entry.lookAgainAtMs = untilMs;
  }

  /** Makes a token, then keeps it for all nodes. A crash in between leaves a token never used. */
  async #make(entry: Entry, minting: Minting, right: MintingRight): Promise<boolean> {
    const minted = await minting.mint(signingTimeMs(right.nowMs, Date.now()));
    if (!minted.ok) {
      const { reason } = minted;
      const isFinal = !minted.retryable && !this.#isDoubted(entry, reason);
      await this.#store.fail(
        entry.identity,
        right.mintingId,
        { reason, isFinal },
        FAILURE_LASTS_MS,
      );
      this.#fail(entry, { ok: false, reason, retryable: !isFinal }, FAILURE_LASTS_MS);
      return false;
    }
    // The right has expired: another node has taken over, and its value will follow soon.
    if (!(await this.#store.keep(entry.identity, right, minted))) return true;
    const offsetMs = this.#now() - right.nowMs;
    this.#hold(entry, {
      id: right.mintingId,
      value: minted.value,
      refreshAtMs: minted.refreshAtMs + offsetMs,
      expiresAtMs: minted.expiresAtMs + offsetMs,
      madeAtMs: Date.now(),
    });
    return false;
  }

  /** Whether this refusal of an account that got a token before proves nothing yet. */
  #isDoubted(entry: Entry, reason: string): boolean {
    const nowMs = this.#now();
    const { refusals } = entry;
    entry.refusals =
      refusals?.reason === reason
        ? { ...refusals, count: refusals.count + 1 }
        : { reason, sinceMs: nowMs, count: 1 };
    const { count, sinceMs } = entry.refusals;
    const isProven = count >= REFUSALS_ALIKE && nowMs - sinceMs >= REFUSALS_ALIKE_FOR_MS;
    return entry.held !== null && !isProven;
  }

  #entryOf(key: string, { identity, apartMs }: Minting, freezeMs: number | null): Entry {
    const entry = this.#entries.get(identity) ?? newEntry(identity, apartMs, freezeMs);
    putLast(this.#entries, identity, entry);
    putLast(this.#keys, key, entry);
    return entry;
  }
}

const NONE_NEEDED: Authorization = Object.freeze({ ok: true, value: '' });

const NOT_MADE: MintFailure = Object.freeze({
  ok: false,
  reason: 'the authorization has expired and cannot be renewed yet',
  retryable: true,
});

/** Never in the future of any node or provider: the earlier of node's and database's time. */
export const signingTimeMs = (sharedMs: number, ownMs: number): number =>
  Math.min(sharedMs, Math.max(ownMs, sharedMs - CLOCK_BEHIND_MS_MAX));

const newEntry = (identity: string, apartMs: number, freezeMs: number | null): Entry => ({
  identity,
  apartMs,
  freezeMs,
  held: null,
  failure: null,
  refusals: null,
  refusedId: null,
  pending: null,
  lookAgainAtMs: 0,
  frozenUntilMs: 0,
});

/** A Map keeps the order of insertion: the first is the one unused for longest. */
function putLast(map: Map<string, Entry>, key: string, entry: Entry): void {
  map.delete(key);
  map.set(key, entry);
  if (map.size <= CREDENTIALS_MAX) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
