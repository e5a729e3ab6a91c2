/** A credential in clear text, as routes answer it. */

import { z } from 'zod';
import type { ShownCredential } from '../credentials.ts';

export const madeCredential = z
  .object({ userName: z.string(), password: z.string(), token: z.string() })
  .meta({ id: 'MadeCredential' });

export const MADE_CREDENTIAL = {
  userName: 'acme-super-k3n5q8rt',
  password: '…',
  token: 'tcs_…',
} as const;

export const asMade = ({ username, password, token }: ShownCredential) => ({
  userName: username,
  password,
  token,
});
