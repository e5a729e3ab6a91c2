/** The uses of SECRET_KEY: a keyed hash finds credentials, encryption keeps them for display. */

import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
} from 'node:crypto';

export interface Secrets {
  /** Identifies the key without revealing it: stored beside everything made with it. */
  readonly keyId: string;
  /** The ids of all keys that it reads with, its own first. */
  readonly keyIds: readonly string[];
  /** The HMAC-SHA-256 by which a token or password is found. */
  lookupHash(secret: string): Buffer;
  /** The same under each key that it reads with. */
  lookupHashes(secret: string): readonly Buffer[];
  /** `identity` names the record: a sealed value that is moved to another one does not open. */
  seal(plain: string, identity: string): Buffer;
  /** Decrypts a value that was sealed under `keyId` for `identity`. */
  open(sealed: Buffer, keyId: string, identity: string): OpenResult;
}

type OpenResult =
  | { readonly kind: 'opened'; readonly plain: string }
  /** Sealed under a key that is not in use. */
  | { readonly kind: 'other-key'; readonly keyId: string }
  /** The key is right, but the bytes were changed, or are another record's. */
  | { readonly kind: 'damaged' };

const KEY_BYTES = 32;
/** The nonce size that AES-GCM is made for. */
const NONCE_BYTES = 12;
const AUTHENTICATION_TAG_BYTES = 16;
/** 64 bits distinguish the keys of one installation. */
const KEY_ID_CHARACTERS = 16;

interface Keys {
  readonly id: string;
  readonly lookup: Buffer;
  readonly sealing: Buffer;
}

/** Writes with SECRET_KEY; reads the other key's values while they are moved to it. */
export function createSecrets(secretKey: string, otherKey?: string): Secrets {
  const own = keysOf(secretKey);
  const all = otherKey === undefined ? [own] : [own, keysOf(otherKey)];
  const hashWith = ({ lookup }: Keys, secret: string): Buffer =>
    createHmac('sha256', lookup).update(secret).digest();
  return {
    keyId: own.id,
    keyIds: all.map(({ id }) => id),
    lookupHash: (secret) => hashWith(own, secret),
    lookupHashes: (secret) => all.map((keys) => hashWith(keys, secret)),
    seal: (plain, identity) => seal(own.sealing, plain, identity),
    open(sealed, keyId, identity) {
      const keys = all.find(({ id }) => id === keyId);
      return keys === undefined
        ? { kind: 'other-key', keyId }
        : open(keys.sealing, sealed, identity);
    },
  };
}

function keysOf(secretKey: string): Keys {
  const lookup = deriveKey(secretKey, 'tagcast look-up 1');
  const sealing = deriveKey(secretKey, 'tagcast sealing 1');
  const digest = hash('sha256', Buffer.concat([lookup, sealing]), 'hex');
  return { id: digest.slice(0, KEY_ID_CHARACTERS), lookup, sealing };
}

function deriveKey(secretKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', purpose, KEY_BYTES));
}

/** Nonce, ciphertext, authentication tag. */
function seal(key: Buffer, plain: string, identity: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(identity));
  return Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Buffer, sealed: Buffer, identity: string): OpenResult {
  if (sealed.length < NONCE_BYTES + AUTHENTICATION_TAG_BYTES) return { kind: 'damaged' };
  const end = sealed.length - AUTHENTICATION_TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: AUTHENTICATION_TAG_BYTES,
  })
    .setAAD(Buffer.from(identity))
    .setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES, end));
  try {
    return { kind: 'opened', plain: Buffer.concat([plain, decipher.final()]).toString('utf8') };
  } catch {
    // Only by throwing does node:crypto report an authentication tag that does not match.
    return { kind: 'damaged' };
  }
}
