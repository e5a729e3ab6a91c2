/**
 * The `authorization` values of all credentials, made once per process and handed to every worker. It lives on the main
 * thread only: APNs counts how often a team renews its token, so workers must not each make their own.
 */

import { hash } from 'node:crypto';
import type { ApnsCredential, FcmCredential, ProviderCredential } from '../domain/credential.ts';
import { mintProviderToken } from './apns/credentials.ts';
import { PROVIDER_TOKEN_MINTS_APART_MS } from './apns/settings.ts';
import { exchangeAccessToken } from './fcm/credentials.ts';
import { ACCESS_TOKEN_REQUESTS_APART_MS } from './fcm/settings.ts';
import type { Minted, MintFailure } from './minted.ts';
import type { ProviderOrigins } from './origins.ts';

export type Authorization = { readonly ok: true; readonly value: string } | MintFailure;

/** Those that a token is made of here. */
type MintedFor = ApnsCredential | FcmCredential;

/** Credentials remembered; beyond it the one unused for longest is forgotten. About 2 KiB each. */
const CREDENTIALS_MAX = 10_000;
/** A failed attempt answers everyone who asks for so long: a broken account must not become a storm of token requests. */
const FAILURE_LASTS_MS = 10_000;

interface Entry {
  readonly mintsApartMs: number;
  minted: (Minted & { readonly ok: true }) | null;
  failure: { readonly value: MintFailure; readonly untilMs: number } | null;
  /** The one attempt under way: everyone who asks meanwhile waits for it. */
  pending: Promise<void> | null;
  isInvalid: boolean;
}

export class Authorizations {
  readonly #origins: ProviderOrigins;
  readonly #now: () => number;
  /** By what is signed with: apps of one team with one key share one token, because APNs counts per team. */
  readonly #entries = new Map<string, Entry>();
  /** By the caller's key: what `invalidate` is told. */
  readonly #keys = new Map<string, Entry>();

  constructor(origins: ProviderOrigins, now: () => number = Date.now) {
    this.#origins = origins;
    this.#now = now;
  }

  /** The value to send now. A new one is made when there is none, when it nears its end, or when it was invalidated. */
  async current(key: string, credential: ProviderCredential): Promise<Authorization> {
    if (credential.kind !== 'webpush') return this.#currentOf(key, credential);
    const { vapid, serviceAccount } = credential;
    if (serviceAccount === null) return NONE_NEEDED;
    const authorization = await this.#currentOf(key, { kind: 'fcm', serviceAccount });
    // Whoever has subscribed gets the push by the other key; those who have FCM tokens wait.
    return authorization.ok || vapid === null ? authorization : NONE_NEEDED;
  }

  async #currentOf(key: string, credential: MintedFor): Promise<Authorization> {
    const entry = this.#entryOf(key, credential);
    if (this.#isDue(entry)) entry.pending ??= this.#renew(entry, credential);
    // While the old one works nobody waits for the new one.
    if (entry.pending !== null && !this.#works(entry)) await entry.pending;
    if (entry.minted !== null && this.#now() < entry.minted.expiresAtMs) {
      return { ok: true, value: entry.minted.value };
    }
    return entry.failure?.value ?? NOT_MADE;
  }

  /** A provider said that the value of this key has expired. The next `current` makes a new one, if it may already. */
  invalidate(key: string): void {
    const entry = this.#keys.get(key);
    if (entry !== undefined) entry.isInvalid = true;
  }

  #works({ minted, isInvalid }: Entry): boolean {
    return minted !== null && !isInvalid && this.#now() < minted.expiresAtMs;
  }

  /** Whether a new one should be made, and may be: never within the provider's interval, never right after a failure. */
  #isDue({ minted, failure, isInvalid, mintsApartMs }: Entry): boolean {
    const now = this.#now();
    if (failure !== null && now < failure.untilMs) return false;
    if (minted === null) return true;
    return (isInvalid || now >= minted.refreshAtMs) && now >= minted.mintedAtMs + mintsApartMs;
  }

  async #renew(entry: Entry, credential: MintedFor): Promise<void> {
    const minted = await this.#mint(credential);
    if (minted.ok) {
      entry.minted = minted;
      entry.failure = null;
      entry.isInvalid = false;
    } else {
      entry.failure = { value: minted, untilMs: this.#now() + FAILURE_LASTS_MS };
    }
    entry.pending = null;
  }

  #mint(credential: MintedFor): Promise<Minted> {
    switch (credential.kind) {
      case 'apns':
        return mintProviderToken(credential, this.#now());
      case 'fcm':
        return exchangeAccessToken(
          credential,
          { origin: this.#origins.oauth, ca: this.#origins.ca },
          this.#now(),
        );
    }
  }

  #entryOf(key: string, credential: MintedFor): Entry {
    const identity = identityOf(credential);
    const entry = this.#entries.get(identity) ?? newEntry(credential);
    putLast(this.#entries, identity, entry);
    putLast(this.#keys, key, entry);
    return entry;
  }
}

/** VAPID tokens are made where they are used (webpush/credentials.ts). */
const NONE_NEEDED: Authorization = Object.freeze({ ok: true, value: '' });

const NOT_MADE: MintFailure = Object.freeze({
  ok: false,
  reason: 'the authorization has expired and cannot be renewed yet',
  retryable: true,
});

const newEntry = (credential: MintedFor): Entry => ({
  mintsApartMs: mintsApartMsOf(credential),
  minted: null,
  failure: null,
  pending: null,
  isInvalid: false,
});

function identityOf(credential: MintedFor): string {
  switch (credential.kind) {
    case 'apns':
      return digest('apns', credential.teamId, credential.keyId, credential.privateKey);
    case 'fcm': {
      const { client_email, private_key_id, private_key } = credential.serviceAccount;
      return digest('fcm', client_email, private_key_id, private_key);
    }
  }
}

/** JSON keeps the parts apart, whatever they hold. */
const digest = (...parts: readonly string[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url');

function mintsApartMsOf(credential: MintedFor): number {
  switch (credential.kind) {
    case 'apns':
      return PROVIDER_TOKEN_MINTS_APART_MS;
    case 'fcm':
      return ACCESS_TOKEN_REQUESTS_APART_MS;
  }
}

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
