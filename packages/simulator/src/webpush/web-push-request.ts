/**
 * Checks a Web Push request: its message by RFC 8030 and 8188, its sender by RFC 8292
 * (internals/providers.md, "Web Push").
 */

import { createPublicKey } from 'node:crypto';
import { CappedMap } from '../../../std/src/capped-map.ts';
import type { ProviderRequest } from '../server/exchange.ts';
import { fieldValue } from '../server/fields.ts';
import { isSignedBy, readJwt } from '../server/jwt.ts';
import { ENDPOINT_PATH } from './push-subscriptions.ts';

/** With Apple's words where it has some. */
export const WEB_PUSH_REASONS = {
  BadPath: 404,
  MethodNotAllowed: 405,
  BadTtl: 400,
  BadUrgency: 400,
  BadWebPushTopic: 400,
  BadCachePolicy: 400,
  BadContentEncoding: 400,
  BadRecord: 400,
  MissingAuthorization: 401,
  BadVapidPublicKey: 403,
  BadJwtToken: 403,
  VapidPkHashMismatch: 403,
  Unregistered: 410,
  PayloadTooLarge: 413,
  TooManyRequests: 429,
  InternalServerError: 500,
  BadGateway: 502,
  ServiceUnavailable: 503,
} as const;

export type WebPushReason = keyof typeof WEB_PUSH_REASONS;

/** RFC 8030, 7.2: a service must accept this size; most accept no more. */
const BODY_OCTETS_MAX = 4_096;
/**
 * Salt, record size, length of the key id, an uncompressed point (RFC 8291, 4), a delimiter, a tag.
 */
const BODY_OCTETS_MIN = 16 + 4 + 1 + 65 + 1 + 16;
const KEY_ID_LENGTH_AT = 20;
const POINT_OCTETS = 65;
const TTL = /^\d{1,10}$/;
const URGENCY = /^(?:very-low|low|normal|high)$/;
const TOPIC = /^[\w-]{1,32}$/;
const ID = /^[\w.:=-]{1,512}$/;

/** The subscription that the path names; undefined: none. */
export function subscriptionOf(path: string): string | undefined {
  const id = path.startsWith(ENDPOINT_PATH) ? path.slice(ENDPOINT_PATH.length) : '';
  return ID.test(id) ? id : undefined;
}

/** The first fault of the message; undefined when a service would accept it. */
export function checkMessage({ method, fields, body }: ProviderRequest): WebPushReason | undefined {
  if (method !== 'POST') return 'MethodNotAllowed';
  if (!TTL.test(fieldValue(fields, 'ttl') ?? '')) return 'BadTtl';
  if (!URGENCY.test(fieldValue(fields, 'urgency') ?? 'normal')) return 'BadUrgency';
  const topic = fieldValue(fields, 'topic');
  // Apple decodes the topic, and base64 is never one character longer than whole groups of four.
  if (topic !== undefined && (!TOPIC.test(topic) || topic.length % 4 === 1)) {
    return 'BadWebPushTopic';
  }
  if (body.length > BODY_OCTETS_MAX) return 'PayloadTooLarge';
  if (fieldValue(fields, 'content-encoding') !== 'aes128gcm') return 'BadContentEncoding';
  const isRecord = body.length >= BODY_OCTETS_MIN && body[KEY_ID_LENGTH_AT] === POINT_OCTETS;
  return isRecord ? undefined : 'BadRecord';
}

/**
 * Whether TTL and cache policy of Microsoft's service agree: nothing is kept for 0 seconds, and
 * without the field everything is kept.
 */
export function isCachePolicyRight({ fields }: ProviderRequest): boolean {
  const isKept = (fieldValue(fields, 'x-wns-cache-policy') ?? 'cache') === 'cache';
  return isKept === Number(fieldValue(fields, 'ttl')) > 0;
}

type VapidCheck =
  | { readonly kind: 'valid'; readonly publicKey: string }
  | { readonly kind: 'refused'; readonly reason: WebPushReason };

interface SignedToken {
  readonly publicKey: string;
  readonly audience: unknown;
  readonly expiresAtMs: number;
  readonly hasSubject: boolean;
}

const VAPID = /^vapid t=([\w.-]+), ?k=([\w-]+)$/i;
const SUBJECT = /^(?:mailto:[^\s<>@]+@[^\s<>@]+|https:\/\/\S+)$/;
/** RFC 8292, 2. */
const LIFETIME_MS_MAX = 24 * 3_600_000;
/**
 * Tokens are remembered: verifying costs 74 µs, and a sender uses the same token for hours.
 * @limit VAPID tokens that the simulator remembers as verified → the oldest is verified again
 */
const VERIFIED_MAX = 10_000;

export class VapidTokens {
  readonly #verified = new CappedMap<string, SignedToken>({ sizeMax: VERIFIED_MAX });

  check({ fields, authority }: ProviderRequest, nowMs: number): VapidCheck {
    const value = fieldValue(fields, 'authorization');
    if (value === undefined) return refused('MissingAuthorization');
    const token = this.#verified.get(value) ?? verify(value);
    if (typeof token === 'string') return refused(token);
    this.#verified.set(value, token);
    const { audience, expiresAtMs, hasSubject, publicKey } = token;
    const isInTime = expiresAtMs > nowMs && expiresAtMs <= nowMs + LIFETIME_MS_MAX;
    return audience === `https://${authority}` && isInTime && hasSubject
      ? { kind: 'valid', publicKey }
      : refused('BadJwtToken');
  }
}

function verify(value: string): SignedToken | WebPushReason {
  const [, text = '', publicKey = ''] = VAPID.exec(value) ?? [];
  const jwt = readJwt(text);
  if (jwt === undefined) return 'BadJwtToken';
  const point = Buffer.from(publicKey, 'base64url');
  if (point.length !== POINT_OCTETS) return 'BadVapidPublicKey';
  const x = point.toString('base64url', 1, 33);
  const y = point.toString('base64url', 33);
  try {
    const key = { kty: 'EC', crv: 'P-256', x, y };
    if (!isSignedBy(jwt, createPublicKey({ key, format: 'jwk' }), 'ES256')) return 'BadJwtToken';
  } catch {
    return 'BadVapidPublicKey';
  }
  const { aud, exp, sub } = jwt.claims;
  return {
    publicKey,
    audience: aud,
    expiresAtMs: typeof exp === 'number' ? exp * 1_000 : 0,
    hasSubject: typeof sub === 'string' && SUBJECT.test(sub),
  };
}

const refused = (reason: WebPushReason): VapidCheck => ({ kind: 'refused', reason });
