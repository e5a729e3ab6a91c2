/** The VAPID token (RFC 8292): a JWT for one push service, sent with every push to it. */

import type { KeyObject } from 'node:crypto';
import { createPrivateKey, sign } from 'node:crypto';
import type { VapidKeys } from './credential.ts';
import { VAPID_LIFETIME_MS, VAPID_REFRESH_BEFORE_MS } from './settings.ts';

/** In the worker: a token costs 28 µs, and no push service counts them. */
export class VapidSigner {
  readonly #keys: VapidKeys;
  readonly #privateKey: KeyObject;

  constructor(keys: VapidKeys) {
    this.#keys = keys;
    this.#privateKey = privateKeyOf(keys);
  }

  sign(origin: string, nowMs: number): string {
    const expiresAt = Math.floor((nowMs + VAPID_LIFETIME_MS) / 1_000);
    const claims = { aud: origin, exp: expiresAt, sub: this.#keys.subject };
    const signed = `${HEADER}.${part(claims)}`;
    // JOSE writes r and s side by side (RFC 7518, 3.4).
    const key = { key: this.#privateKey, dsaEncoding: 'ieee-p1363' } as const;
    const signature = sign('sha256', Buffer.from(signed), key).toString('base64url');
    return `vapid t=${signed}.${signature}, k=${this.#keys.publicKey}`;
  }
}

/** A larger difference: the date was set. Services allow some minutes. */
const CLOCK_SET_MS_MIN = 60_000;

/** Renewed before it expires, or when the clock was set since it was signed. */
export class VapidToken {
  readonly #signer: VapidSigner;
  readonly #origin: string;
  #value = '';
  /** On the monotonic clock. */
  #refreshAtMs = Number.NEGATIVE_INFINITY;
  /** How far the date is ahead of the monotonic clock. */
  #aheadMs = 0;

  constructor(signer: VapidSigner, origin: string) {
    this.#signer = signer;
    this.#origin = origin;
  }

  current(nowMs: number, monotonicMs: number): string {
    const wasSet = Math.abs(nowMs - monotonicMs - this.#aheadMs) >= CLOCK_SET_MS_MIN;
    if (wasSet || monotonicMs >= this.#refreshAtMs) {
      this.#value = this.#signer.sign(this.#origin, nowMs);
      this.#aheadMs = nowMs - monotonicMs;
      this.#refreshAtMs = monotonicMs + VAPID_LIFETIME_MS - VAPID_REFRESH_BEFORE_MS;
    }
    return this.#value;
  }
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const HEADER = part({ typ: 'JWT', alg: 'ES256' });

function privateKeyOf({ privateKey, publicKey }: VapidKeys): KeyObject {
  const point = Buffer.from(publicKey, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    d: privateKey,
    x: point.toString('base64url', 1, 33),
    y: point.toString('base64url', 33, 65),
  };
  return createPrivateKey({ key: jwk, format: 'jwk' });
}
