/** What is wrong with a text that should be a private key: people upload the wrong file, and each wrong file has its own way out. */

import type { KeyObject } from 'node:crypto';
import { createPrivateKey, X509Certificate } from 'node:crypto';

/** Who signs with it: Apple wants P-256 (ES256), Google RSA (RS256). */
export type Signer = 'apns' | 'fcm';

/** What Google signs service accounts' tokens with is RSA; shorter keys than this are not issued. */
const RSA_BITS_MIN = 2_048;

/** What the sentence says after the name of the field, without a full stop; null: it is the key that the signer needs. */
export function privateKeyFault(text: string, signer: Signer): string | null {
  const kind = KINDS.find(({ sign }) => sign.test(text));
  if (kind !== undefined) return kind.fault(signer, text);
  if (!text.includes(PKCS8)) return `has no line ${PKCS8}: give the whole file ${FILES[signer]}`;
  const key = readKey(text);
  return key === null
    ? 'is damaged: the text between its BEGIN and END lines is not a key'
    : signerFault(key, signer);
}

/** The same key in one form only, whoever wrote the file: what signs is compared by it. */
export const canonicalKey = (text: string): string =>
  createPrivateKey(text).export({ type: 'pkcs8', format: 'pem' }).toString();

const PKCS8 = '-----BEGIN PRIVATE KEY-----';

const FILES: Readonly<Record<Signer, string>> = {
  apns: 'AuthKey_<key id>.p8 that Apple gave when the key was made',
  fcm: 'that the Google Cloud or Firebase console gave when the key was made',
};

interface Kind {
  readonly sign: RegExp;
  fault(signer: Signer, text: string): string;
}

const convert = (form: string) => (): string =>
  `is in ${form} form: convert it with "openssl pkcs8 -topk8 -nocrypt -in KEY -out KEY.p8" and give that`;

/** Files that are mistaken for the key, the telling ones first: an encrypted one says RSA as well. */
const KINDS: readonly Kind[] = [
  {
    sign: /ENCRYPTED/,
    fault: () =>
      'is encrypted with a passphrase: remove it with "openssl pkcs8 -topk8 -nocrypt -in KEY -out KEY.p8" and give that',
  },
  { sign: /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/, fault: certificateFault },
  {
    sign: /-----BEGIN (?:NEW )?CERTIFICATE REQUEST-----/,
    fault: (signer) => `is a certificate request, not a key: give the file ${FILES[signer]}`,
  },
  {
    sign: /-----BEGIN (?:RSA )?PUBLIC KEY-----/,
    fault: (signer) => `is the public half of a key: give the file ${FILES[signer]}`,
  },
  { sign: /-----BEGIN EC PRIVATE KEY-----/, fault: convert('SEC 1') },
  {
    sign: /-----BEGIN RSA PRIVATE KEY-----/,
    fault: (signer) =>
      signer === 'apns'
        ? `is an RSA key, and APNs takes P-256 only: give the file ${FILES.apns}`
        : convert('PKCS 1')(),
  },
  {
    sign: /-----BEGIN OPENSSH PRIVATE KEY-----/,
    fault: (signer) => `is a key for SSH: give the file ${FILES[signer]}`,
  },
  {
    sign: /-----\\n/,
    fault: () =>
      'contains the characters \\n in place of line breaks: give it with real line breaks',
  },
  {
    sign: /^\s*\{/,
    fault: (signer) =>
      signer === 'apns'
        ? `is JSON, as a Google service account is: give the file ${FILES.apns}`
        : 'is a whole JSON file: give it as serviceAccount',
  },
  {
    // A .p12 or DER file that was read as text.
    sign: /[\0\ufffd]/,
    fault: (signer) => `is a binary file (.p12 or .der?): give the file ${FILES[signer]}`,
  },
];

function certificateFault(signer: Signer, text: string): string {
  const use =
    signer === 'apns' ? ', and Tagcast signs in to APNs with a key, not with a certificate' : '';
  return `is a certificate${validityOf(text)}${use}: give the file ${FILES[signer]}`;
}

function validityOf(text: string): string {
  try {
    return ` (valid until ${new X509Certificate(text).validTo})`;
  } catch {
    return '';
  }
}

function signerFault(key: KeyObject, signer: Signer): string | null {
  const { asymmetricKeyType: type = 'unknown', asymmetricKeyDetails: details } = key;
  if (signer === 'apns') {
    const curve = details?.namedCurve;
    if (type === 'ec' && curve === 'prime256v1') return null;
    const found = type === 'ec' ? `on the curve ${curve}` : `of the kind ${type}`;
    return `is a key that is not P-256 (it is ${found}): give the file ${FILES.apns}`;
  }
  if (type === 'rsa' && (details?.modulusLength ?? 0) >= RSA_BITS_MIN) return null;
  const found = type === 'rsa' ? `has ${details?.modulusLength} bits` : `is of the kind ${type}`;
  return `is not an RSA key of ${RSA_BITS_MIN} bits or more (it ${found}): give the file ${FILES.fcm}`;
}

function readKey(text: string): KeyObject | null {
  try {
    return createPrivateKey(text);
  } catch {
    // OpenSSL's words for it help nobody, and may quote the key.
    return null;
  }
}
