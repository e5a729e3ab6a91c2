/** Fields that the bodies of several routes of the console's own API share. */

import { z } from 'zod';
import { EMAIL_LENGTH_MAX, readEmail } from '../accounts/email.ts';
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../accounts/passwords.ts';

const EMAIL = `must be an e-mail address of ${EMAIL_LENGTH_MAX} characters at most`;
const PASSWORD = `must have ${PASSWORD_LENGTH_MIN}–${PASSWORD_LENGTH_MAX} characters`;
const TOKEN = 'must be the token of a link';
/** @limit characters of a token of a link → `400` */
const TOKEN_LENGTH_MAX = 100;

export const email = z
  .string(EMAIL)
  .refine((text) => readEmail(text) !== null, EMAIL)
  .meta({ description: 'In any case; it is stored in small letters.' });
export const newPassword = z
  .string(PASSWORD)
  .min(PASSWORD_LENGTH_MIN, PASSWORD)
  .max(PASSWORD_LENGTH_MAX, PASSWORD);
/** Not held to the limits of a new one: a wrong one is wrong, however long. */
export const anyPassword = z.string('must be a string').max(PASSWORD_LENGTH_MAX, PASSWORD);
export const token = z.string(TOKEN).min(1, TOKEN).max(TOKEN_LENGTH_MAX, TOKEN);
