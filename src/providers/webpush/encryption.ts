/**
 * Encrypts a message for one browser (RFC 8291): a key pair for each, one record of `aes128gcm`
 * (RFC 8188). HKDF is written out as its HMACs, and random octets are drawn in batches, for speed.
 */

import type { ECDH } from 'node:crypto';
import { createCipheriv, createECDH, createHmac, randomFillSync } from 'node:crypto';

export interface Recipient {
  /** The uncompressed point, 65 octets. */
  readonly publicKey: Buffer;
  /** 16 octets. */
  readonly authSecret: Buffer;
}

export const PUBLIC_KEY_OCTETS = 65;
export const AUTH_SECRET_OCTETS = 16;

const SALT_OCTETS = 16;
const TAG_OCTETS = 16;
/** Salt, record size, length of the key id, key id (RFC 8188, 2.1). */
const HEAD_OCTETS = SALT_OCTETS + 4 + 1 + PUBLIC_KEY_OCTETS;
/** The size of the one record, which may be shorter (RFC 8291, 4). */
const RECORD_SIZE = 4_096;
/** Ends the plaintext of the last record (RFC 8188, 2). */
const LAST_RECORD = Buffer.from([2]);

/** The first and only block of an HKDF of 32 octets or less (RFC 5869, 2.3). */
const KEY_INFO = Buffer.from('WebPush: info\0');
const FIRST_BLOCK = Buffer.from([1]);
const CONTENT_KEY_INFO = Buffer.from('Content-Encoding: aes128gcm\0\x01', 'latin1');
const NONCE_INFO = Buffer.from('Content-Encoding: nonce\0\x01', 'latin1');
const CONTENT_KEY_OCTETS = 16;
const NONCE_OCTETS = 12;

export const recordOf = (plaintext: Buffer): Buffer => Buffer.concat([plaintext, LAST_RECORD]);

/** The body for one browser. Throws when its public key is no point of the curve. */
export function encrypt(record: Buffer, recipient: Recipient): Buffer {
  // RFC 8291, 2: a new key pair for each message. The object is reused, its keys are not.
  sender.generateKeys();
  return encryptWith(record, recipient, sender, nextSalt());
}

const sender = createECDH('prime256v1');

/** The same with a given key pair and salt: RFC 8291 has an example of it. */
export function encryptWith(
  record: Buffer,
  { publicKey, authSecret }: Recipient,
  keys: ECDH,
  salt: Buffer,
): Buffer {
  const senderKey = keys.getPublicKey();
  const shared = keys.computeSecret(publicKey);
  const keyMaterial = createHmac('sha256', hmac(authSecret, shared))
    .update(KEY_INFO)
    .update(publicKey)
    .update(senderKey)
    .update(FIRST_BLOCK)
    .digest();
  const extracted = hmac(salt, keyMaterial);
  const contentKey = hmac(extracted, CONTENT_KEY_INFO).subarray(0, CONTENT_KEY_OCTETS);
  const nonce = hmac(extracted, NONCE_INFO).subarray(0, NONCE_OCTETS);

  const body = Buffer.allocUnsafe(HEAD_OCTETS + record.length + TAG_OCTETS);
  body.set(salt);
  body.writeUInt32BE(RECORD_SIZE, SALT_OCTETS);
  body[SALT_OCTETS + 4] = PUBLIC_KEY_OCTETS;
  body.set(senderKey, SALT_OCTETS + 5);
  const cipher = createCipheriv('aes-128-gcm', contentKey, nonce);
  body.set(cipher.update(record), HEAD_OCTETS);
  cipher.final();
  body.set(cipher.getAuthTag(), HEAD_OCTETS + record.length);
  return body;
}

const hmac = (key: Buffer, data: Buffer): Buffer => createHmac('sha256', key).update(data).digest();

/** 256 salts are drawn at a time: to draw one alone costs as much as the AES of a short message. */
const salts = Buffer.alloc(256 * SALT_OCTETS);
let saltAt = salts.length;

function nextSalt(): Buffer {
  if (saltAt === salts.length) {
    randomFillSync(salts);
    saltAt = 0;
  }
  const salt = salts.subarray(saltAt, saltAt + SALT_OCTETS);
  saltAt += SALT_OCTETS;
  return salt;
}
