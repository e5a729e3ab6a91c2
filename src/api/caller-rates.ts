/**
 * Holds callers to their client's rates: a bucket for each client and for each credential, so that
 * one that runs wild leaves the others their part. Each node counts what it serves.
 */

import type { Caller } from '../domain/caller.ts';
import type { ClientLimitName, OverLimit, RateKind } from '../domain/client-limits.ts';
import { CLIENT_LIMIT_DEFAULTS, limitOf } from '../domain/client-limits.ts';
import { TokenBuckets } from '../std/token-buckets.ts';

/**
 * About 100 bytes each.
 * @limit clients, and credentials, whose rates are remembered, of each kind in each of two
 * generations → forgotten, so with full rate again
 */
const BUCKETS_MAX = 10_000;

interface Rate {
  readonly ofClient: ClientLimitName;
  readonly ofCredential: ClientLimitName;
}

const RATES: Readonly<Record<RateKind, Rate>> = {
  requests: { ofClient: 'requestsPerSecond', ofCredential: 'credentialRequestsPerSecond' },
  pushes: { ofClient: 'pushesPerSecond', ofCredential: 'credentialPushesPerSecond' },
  registrations: {
    ofClient: 'registrationsPerSecond',
    ofCredential: 'credentialRegistrationsPerSecond',
  },
  reads: { ofClient: 'readsPerSecond', ofCredential: 'credentialReadsPerSecond' },
};

export class CallerRates {
  readonly #buckets = new Map<ClientLimitName, TokenBuckets>();

  constructor() {
    for (const { ofClient, ofCredential } of Object.values(RATES)) {
      for (const name of [ofClient, ofCredential]) {
        const perSecond = CLIENT_LIMIT_DEFAULTS[name];
        this.#buckets.set(name, new TokenBuckets({ perSecond, bucketsMax: BUCKETS_MAX }));
      }
    }
  }

  /** Counts something that a caller asks for. Answers the limit that it is beyond; null: none. */
  take(kind: RateKind, caller: Caller, nowMs: number): OverLimit | null {
    const { ofClient, ofCredential } = RATES[kind];
    // An app keeps its bucket when its credential is rotated; members have one in each client.
    const credential =
      caller.appId === null ? `${caller.clientId} ${caller.userName}` : String(caller.appId);
    return (
      this.#takeFrom(ofCredential, credential, caller, nowMs) ??
      this.#takeFrom(ofClient, String(caller.clientId), caller, nowMs)
    );
  }

  #takeFrom(
    name: ClientLimitName,
    key: string,
    { limits }: Caller,
    nowMs: number,
  ): OverLimit | null {
    const max = limitOf(limits, name);
    const isWithin = this.#buckets.get(name)?.take(key, nowMs, max) ?? true;
    return isWithin ? null : { name, max, current: null };
  }
}
