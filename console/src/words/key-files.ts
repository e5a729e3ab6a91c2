/** What a dropped file is: a provider's key, or what is wrong with it. Read in the browser alone. */

import { appTexts as texts } from '../texts/apps.ts';

export type KeyFile =
  | { readonly ok: true; readonly fields: Readonly<Record<string, unknown>>; readonly note: string }
  | { readonly ok: false; readonly fault: string };

/** A key is a few kilobytes; what is larger is something else. */
export const KEY_FILE_BYTES_MAX = 65_536;
const PEM = '-----BEGIN PRIVATE KEY-----';
/** As Apple names them: AuthKey_ABC123DEFG.p8. */
const KEY_ID = /AuthKey_([A-Z0-9]{10})\.p8$/;
/** What the engine needs of a service account. */
const NEEDED = ['project_id', 'client_email', 'private_key'];

/** Of APNs: the key, and its id when the name of the file tells it. */
export function readP8(name: string, text: string): KeyFile {
  if (!text.trim().startsWith(PEM)) return { ok: false, fault: texts.notP8 };
  const keyId = KEY_ID.exec(name)?.[1];
  const fields = { privateKey: text, ...(keyId === undefined ? {} : { keyId }) };
  return { ok: true, fields, note: texts.read3(name) };
}

/** Of FCM. */
export function readServiceAccount(text: string): KeyFile {
  let account: unknown;
  try {
    account = JSON.parse(text);
  } catch {
    return { ok: false, fault: texts.notJson };
  }
  if (typeof account !== 'object' || account === null) return { ok: false, fault: texts.notJson };
  const fields = account as Readonly<Record<string, unknown>>;
  const missing = NEEDED.find((field) => typeof fields[field] !== 'string');
  if (missing !== undefined) return { ok: false, fault: texts.notAServiceAccount(missing) };
  return {
    ok: true,
    fields: { serviceAccount: account },
    note: texts.read15(String(fields['project_id'])),
  };
}
