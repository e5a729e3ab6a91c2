/**
 * The browsers that the simulator plays: makes their subscriptions and keeps their private keys, so
 * that it can read messages to them.
 */

import type { ECDH } from 'node:crypto';
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { CappedMap } from '../../../std/src/capped-map.ts';

/** The JSON of a PushSubscription, which a page hands to its server (W3C Push API). */
export interface PushSubscription {
  readonly endpoint: string;
  readonly expirationTime: null;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

interface Browser {
  readonly keys: ECDH;
  readonly authSecret: Buffer;
  /** The key that the page subscribed with, in base64url; undefined: any. */
  readonly applicationServerKey: string | undefined;
}

/**
 * The newest ones are kept; a key pair is about 2 KiB.
 * @limit browsers of the simulator → the newest stay
 */
const BROWSERS_MAX = 20_000;

const AUTH_SECRET_OCTETS = 16;
const ID_OCTETS = 24;

/** The first path segment of every endpoint. */
export const ENDPOINT_PATH = '/push/';

export class PushSubscriptions {
  readonly #browsers = new CappedMap<string, Browser>({ sizeMax: BROWSERS_MAX });

  subscribe(origin: string, applicationServerKey: string | undefined): PushSubscription {
    const keys = createECDH('prime256v1');
    const p256dh = keys.generateKeys().toString('base64url');
    const authSecret = randomBytes(AUTH_SECRET_OCTETS);
    const id = randomBytes(ID_OCTETS).toString('base64url');
    this.#browsers.set(id, { keys, authSecret, applicationServerKey });
    return {
      endpoint: `${origin}${ENDPOINT_PATH}${id}`,
      expirationTime: null,
      keys: { p256dh, auth: authSecret.toString('base64url') },
    };
  }

  /**
   * Whether this subscription was made with that key. One that was not made here accepts any key.
   */
  takesKey(id: string, applicationServerKey: string): boolean {
    const expected = this.#browsers.get(id)?.applicationServerKey;
    return expected === undefined || expected === applicationServerKey;
  }

  /**
   * The content that the browser would hand to its service worker; undefined: it cannot read it;
   * null: the browser is not one of ours.
   */
  read(id: string, body: Buffer): Buffer | undefined | null {
    const browser = this.#browsers.get(id);
    if (browser === undefined) return null;
    try {
      return decrypt(body, browser);
    } catch {
      return undefined;
    }
  }
}

const SALT_OCTETS = 16;
const KEY_ID_AT = SALT_OCTETS + 5;
const TAG_OCTETS = 16;
const LAST_RECORD = 2;

/** Decrypts exactly as RFC 8291, 3.4; throws on any deviation. */
function decrypt(body: Buffer, { keys, authSecret }: Browser): Buffer {
  const salt = body.subarray(0, SALT_OCTETS);
  const contentAt = KEY_ID_AT + body.readUInt8(SALT_OCTETS + 4);
  const senderKey = body.subarray(KEY_ID_AT, contentAt);
  const content = body.subarray(contentAt);
  if (content.length > body.readUInt32BE(SALT_OCTETS)) throw new Error('more than one record');
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), keys.getPublicKey(), senderKey]);
  const shared = keys.computeSecret(senderKey);
  const material = Buffer.from(hkdfSync('sha256', shared, authSecret, info, 32));
  const key = hkdfSync('sha256', material, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = hkdfSync('sha256', material, salt, 'Content-Encoding: nonce\0', 12);
  const decipher = createDecipheriv('aes-128-gcm', Buffer.from(key), Buffer.from(nonce));
  decipher.setAuthTag(content.subarray(content.length - TAG_OCTETS));
  const padded = Buffer.concat([
    decipher.update(content.subarray(0, content.length - TAG_OCTETS)),
    decipher.final(),
  ]);
  let end = padded.length - 1;
  while (padded[end] === 0) end -= 1;
  if (padded[end] !== LAST_RECORD) throw new Error('no delimiter of a last record');
  return padded.subarray(0, end);
}
