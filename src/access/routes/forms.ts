/** The bodies that the console's own API takes. */

import { z } from 'zod';
import { MEMBER_ROLES } from '../../domain/caller.ts';
import { isNameText, NAME_FAULT } from '../../std/name-text.ts';
import { strictForm } from '../../std/strict-form.ts';
import { EMAIL_LENGTH_MAX, readEmail } from '../accounts/email.ts';
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../accounts/passwords.ts';

const EMAIL = `must be an e-mail address of ${EMAIL_LENGTH_MAX} characters at most`;
const PASSWORD = `must have ${PASSWORD_LENGTH_MIN}–${PASSWORD_LENGTH_MAX} characters`;
/** @limit characters of a name of a client → `400` */
const NAME_LENGTH_MAX = 255;
const NAME = `must have 1–${NAME_LENGTH_MAX} characters`;
const TOKEN = 'must be the token of a link';
/** @limit characters of a token of a link → `400` */
const TOKEN_LENGTH_MAX = 100;

const email = z
  .string(EMAIL)
  .refine((text) => readEmail(text) !== null, EMAIL)
  .meta({ description: 'In any case; it is stored in small letters.' });
const newPassword = z
  .string(PASSWORD)
  .min(PASSWORD_LENGTH_MIN, PASSWORD)
  .max(PASSWORD_LENGTH_MAX, PASSWORD);
/** Not held to the limits of a new one: a wrong one is wrong, however long. */
const anyPassword = z.string('must be a string').max(PASSWORD_LENGTH_MAX, PASSWORD);
const token = z.string(TOKEN).min(1, TOKEN).max(TOKEN_LENGTH_MAX, TOKEN);
const role = z.enum(MEMBER_ROLES, `must be ${MEMBER_ROLES.join(', ')}`);

export const registerForm = strictForm({
  email,
  password: newPassword,
  clientName: z
    .string(NAME)
    .trim()
    .min(1, NAME)
    .max(NAME_LENGTH_MAX, NAME)
    .refine(isNameText, NAME_FAULT)
    .optional(),
  invitation: token.optional(),
});

/** E-mail and password, or a link in place of both. */
export const sessionForm = strictForm({
  email: email.optional(),
  password: anyPassword.optional(),
  link: token.optional(),
}).refine(
  ({ email, password, link }) =>
    link === undefined
      ? email !== undefined && password !== undefined
      : email === undefined && password === undefined,
  'must have email and password, or link',
);

export const passwordForm = strictForm({ currentPassword: anyPassword, newPassword });
export const resetForm = strictForm({ token, newPassword });
export const roleForm = strictForm({ role });
