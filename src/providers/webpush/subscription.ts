/** Reads a deviceId of platform 7: a browser's PushSubscription (W3C Push API), or an FCM token. */

import { isObject, parseObject } from '../../../packages/std/src/json.ts';
import type { Recipient } from './encryption.ts';
import { AUTH_SECRET_OCTETS, PUBLIC_KEY_OCTETS } from './encryption.ts';
import { PATH_LENGTH_MAX } from './settings.ts';

type WebDevice =
  | {
      readonly kind: 'subscription';
      /** The push service's origin, for which the VAPID token is made. */
      readonly origin: string;
      readonly path: string;
      readonly recipient: Recipient;
    }
  | { readonly kind: 'fcm-token' }
  /** The browser itself has put an address in the place of its endpoint that leads nowhere. */
  | { readonly kind: 'removed' }
  | { readonly kind: 'unusable'; readonly reason: 'BadSubscription' | 'SubscriptionExpired' };

export function readDevice(deviceId: string, nowMs: number): WebDevice {
  // No FCM token begins with a brace.
  if (!deviceId.trimStart().startsWith('{')) return FCM_TOKEN;
  const subscription = parseObject(deviceId);
  if (subscription === undefined) return BAD;
  const { endpoint, keys, expirationTime } = subscription;
  if (typeof endpoint !== 'string' || !isObject(keys) || !URL.canParse(endpoint)) return BAD;
  if (typeof expirationTime === 'number' && expirationTime <= nowMs) return EXPIRED;
  const publicKey = octets(keys['p256dh'], PUBLIC_KEY_OCTETS);
  const authSecret = octets(keys['auth'], AUTH_SECRET_OCTETS);
  if (publicKey === null || publicKey[0] !== UNCOMPRESSED_POINT || authSecret === null) return BAD;
  const { protocol, origin, hostname, pathname, search, username, password } = new URL(endpoint);
  if (LEADS_NOWHERE.test(hostname)) return REMOVED;
  // A user name or password in the address would not be Tagcast's.
  if (protocol !== 'https:' || username !== '' || password !== '') return BAD;
  const path = pathname + search;
  if (path.length > PATH_LENGTH_MAX) return BAD;
  return { kind: 'subscription', origin, path, recipient: { publicKey, authSecret } };
}

/** RFC 2606, 2. Edge on Android writes `https://permanently-removed.invalid/…` at the end. */
const LEADS_NOWHERE = /(?:^|\.)invalid\.?$/;

const REMOVED: WebDevice = Object.freeze({ kind: 'removed' });
const FCM_TOKEN: WebDevice = Object.freeze({ kind: 'fcm-token' });
const BAD: WebDevice = Object.freeze({ kind: 'unusable', reason: 'BadSubscription' });
const EXPIRED: WebDevice = Object.freeze({ kind: 'unusable', reason: 'SubscriptionExpired' });

/** SEC 1, 2.3.3. */
const UNCOMPRESSED_POINT = 4;

/** Decodes base64url, or base64 as some libraries write it. */
function octets(value: unknown, length: number): Buffer | null {
  if (typeof value !== 'string') return null;
  const decoded = Buffer.from(value, 'base64url');
  return decoded.length === length ? decoded : null;
}
