/** E-mail addresses as login names: one spelling for each. */

/** RFC 5321, 4.5.3.1.3. */
export const EMAIL_LENGTH_MAX = 254;

/**
 * What an address must have: the mail server knows the rest, and we send none. No control
 * characters, which would garble a list on a terminal.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const EMAIL = /^[^\s@\u0000-\u001f\u007f]+@[^\s@\u0000-\u001f\u007f]+$/;

/** The address in lower case; null: it is none. */
export function readEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  const isEmail = email.length <= EMAIL_LENGTH_MAX && EMAIL.test(email) && email.isWellFormed();
  return isEmail ? email : null;
}
