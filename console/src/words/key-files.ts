/** Recognizes a dropped file: a provider's key, or a fault. Read in the browser alone. */

import { appTexts as texts } from '../texts/apps.ts';

export type KeyFile =
  | { readonly ok: true; readonly fields: Readonly<Record<string, unknown>>; readonly note: string }
  | { readonly ok: false; readonly fault: string };

/** A key is a few kilobytes; what is larger is something else. */
export const KEY_FILE_BYTES_MAX = 65_536;
const BEGIN = '-----BEGIN PRIVATE KEY-----';
const PEM = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----\s*$/;
const CERTIFICATE = /-----BEGIN [A-Z0-9 ]*CERTIFICATE/;
/** Apple's names for files: AuthKey_ABC123DEFG.p8. */
const KEY_ID = /AuthKey_([A-Z0-9]{10})\.p8$/;
/** The fields of a service account that the engine needs. */
const NEEDED = ['project_id', 'client_email', 'private_key_id', 'private_key'];
/** JSON files that are mistaken for one, each by a field that no service account has. */
const OTHER_FILES: readonly (readonly [field: string, what: string])[] = [
  ['project_info', texts.googleServices],
  ['apiKey', texts.firebaseConfig],
  ['installed', texts.oauthClient],
  ['web', texts.oauthClient],
  ['refresh_token', texts.ownSignIn],
];

/** A key of APNs, and its id when the name of the file has it. */
export function readP8(name: string, text: string): KeyFile {
  if (isObject(parsed(text))) return { ok: false, fault: texts.jsonForP8 };
  if (CERTIFICATE.test(text)) return { ok: false, fault: texts.certificateForP8 };
  if (!text.trim().startsWith(BEGIN)) return { ok: false, fault: texts.notP8 };
  if (!isWhole(text)) return { ok: false, fault: texts.brokenP8 };
  const keyId = KEY_ID.exec(name)?.[1];
  const fields = { privateKey: text, ...(keyId === undefined ? {} : { keyId }) };
  return { ok: true, fields, note: texts.read3(name) };
}

/** A key of FCM. */
export function readServiceAccount(text: string): KeyFile {
  if (text.trim().startsWith(BEGIN)) return { ok: false, fault: texts.p8ForJson };
  const account = parsed(text);
  if (!isObject(account)) return { ok: false, fault: texts.notJson };
  const other = OTHER_FILES.find(([field]) => Object.hasOwn(account, field));
  if (other !== undefined) return { ok: false, fault: texts.otherJson(other[1]) };
  const missing = NEEDED.find((field) => typeof account[field] !== 'string');
  if (missing !== undefined) return { ok: false, fault: texts.notAServiceAccount(missing) };
  if (!isWhole(String(account['private_key']))) return { ok: false, fault: texts.brokenInJson };
  return {
    ok: true,
    fields: { serviceAccount: account },
    note: texts.read15(String(account['project_id'])),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A tag of DER: the content is a sequence. */
const SEQUENCE = 0x30;
/** The first octet of a length of so many octets that follow. */
const LONG_LENGTH = 0x80;

/**
 * Whether all of a key is there: it has its last line, and what stands between the lines is as long
 * as it says. Which kind of key it is, the engine finds out.
 */
function isWhole(pem: string): boolean {
  const base64 = PEM.exec(pem)?.[1];
  if (base64 === undefined) return false;
  let octets: string;
  try {
    octets = atob(base64.replaceAll(/\s/g, ''));
  } catch {
    return false;
  }
  const at = (index: number): number => octets.charCodeAt(index);
  if (at(0) !== SEQUENCE) return false;
  const first = at(1);
  if (first < LONG_LENGTH) return octets.length === 2 + first;
  const more = first - LONG_LENGTH;
  const length = Array.from({ length: more }, (_, index) => at(2 + index)).reduce(
    (sum, octet) => sum * 256 + octet,
    0,
  );
  return octets.length === 2 + more + length;
}
