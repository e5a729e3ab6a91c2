/** E-mail addresses as login names: one spelling for each. */

import { isNameText } from '../../std/name-text.ts';

/**
 * RFC 5321, 4.5.3.1.3.
 * @limit characters of an e-mail address → `400`
 */
export const EMAIL_LENGTH_MAX = 254;

/** One @ and no blanks. Only the mail server of an address knows the rest, and we send no mail. */
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** The address in lower case; null: it is none. */
export function readEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  const isEmail = email.length <= EMAIL_LENGTH_MAX && EMAIL.test(email) && isNameText(email);
  return isEmail ? email : null;
}
