/** Forms that several settings of the environment share. */

import { z } from 'zod';

const DIGITS = /^\d+$/;

/** A whole number within bounds, and no text that only JavaScript takes for one. */
export const count = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(DIGITS, { error })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error });
};

export const origin = z
  .url({ protocol: /^https$/, error: 'must be an address as https://host:port' })
  .transform((value) => new URL(value).origin);

export const list = z.string().transform((value) =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== ''),
);

export type SettingsOf<Forms extends z.ZodRawShape> = Readonly<z.infer<z.ZodObject<Forms>>>;
