/** The fault of a text that should be a private key: each kind of wrong file has its own remedy. */

import type { KeyObject } from 'node:crypto';
import { createPrivateKey, X509Certificate } from 'node:crypto';

/** The key that a provider's credential needs, and the texts for files that are mistaken for it. */
export interface WantedKey {
  readonly file: string;
  /** For a certificate: after a comma, why this provider cannot use it; or an empty text. */
  readonly certificateUse: string;
  /** For an RSA key in PKCS 1. Null: it can be used when converted. */
  readonly pkcs1: string | null;
  readonly json: string;
  /** For a key that can be read. Null: it is right. */
  faultOf(key: KeyObject): string | null;
}

/** Without a full stop, for after the field's name. Null: it is the key that is needed. */
export function privateKeyFault(text: string, wanted: WantedKey): string | null {
  const kind = KINDS.find(({ sign }) => sign.test(text));
  if (kind !== undefined) return kind.fault(wanted, text);
  if (!text.includes(PKCS8)) return `has no line ${PKCS8}: give the whole file ${wanted.file}`;
  const key = readKey(text);
  return key === null
    ? 'is damaged: the text between its BEGIN and END lines is not a key'
    : wanted.faultOf(key);
}

/** The same key in one form for any file: the identity that signs depends on it. */
export const canonicalKey = (text: string): string =>
  createPrivateKey(text).export({ type: 'pkcs8', format: 'pem' }).toString();

const PKCS8 = '-----BEGIN PRIVATE KEY-----';

interface Kind {
  readonly sign: RegExp;
  fault(wanted: WantedKey, text: string): string;
}

const convert = (form: string) => (): string =>
  `is in ${form} form: convert it with "openssl pkcs8 -topk8 -nocrypt -in KEY -out KEY.p8" and give that`;

/** Files mistaken for the key, the specific kinds first: an encrypted key may say RSA too. */
const KINDS: readonly Kind[] = [
  {
    sign: /ENCRYPTED/,
    fault: () =>
      'is encrypted with a passphrase: remove it with "openssl pkcs8 -topk8 -nocrypt -in KEY -out KEY.p8" and give that',
  },
  { sign: /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/, fault: certificateFault },
  {
    sign: /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----/,
    fault: ({ file }) => `is a certificate request, not a key: give the file ${file}`,
  },
  {
    sign: /-----BEGIN (?:RSA )?PUBLIC KEY-----/,
    fault: ({ file }) => `is the public half of a key: give the file ${file}`,
  },
  { sign: /-----BEGIN EC PRIVATE KEY-----/, fault: convert('SEC 1') },
  {
    sign: /-----BEGIN RSA PRIVATE KEY-----/,
    fault: ({ pkcs1 }) => pkcs1 ?? convert('PKCS 1')(),
  },
  {
    sign: /-----BEGIN OPENSSH PRIVATE KEY-----/,
    fault: ({ file }) => `is a key for SSH: give the file ${file}`,
  },
  {
    sign: /-----\\n/,
    fault: () =>
      'contains the characters \\n in place of line breaks: give it with real line breaks',
  },
  {
    sign: /^\s*\{/,
    fault: ({ json }) => json,
  },
  {
    // A .p12 or DER file that was read as text.
    sign: /[\0\ufffd]/,
    fault: ({ file }) => `is a binary file (.p12 or .der?): give the file ${file}`,
  },
];

function certificateFault({ file, certificateUse }: WantedKey, text: string): string {
  return `is a certificate${validityOf(text)}${certificateUse}: give the file ${file}`;
}

function validityOf(text: string): string {
  try {
    return ` (valid until ${new X509Certificate(text).validTo})`;
  } catch {
    return '';
  }
}

function readKey(text: string): KeyObject | null {
  try {
    return createPrivateKey(text);
  } catch {
    // OpenSSL's message does not help, and may quote the key.
    return null;
  }
}
