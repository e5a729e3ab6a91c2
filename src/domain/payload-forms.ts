/** The forms of a payload's fields, which take what real clients write. */

import { z } from 'zod';
import type { JsonObject } from '../../packages/std/src/json.ts';
import { asObject, isObject } from '../../packages/std/src/json.ts';

const DECIMAL = /^\s*-?\d+(\.\d+)?\s*$/;

/** Real clients turn every value into a string: numbers and booleans are taken in that form too. */
export const text = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  z.string({ error: 'must be a text.' }),
);
export const wholeNumber = (min: number, max: number, unit = '') =>
  z.preprocess(
    (value) => (typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value),
    z
      .number({ error: 'must be a number.' })
      .int('must be a whole number.')
      .min(min, `must be ${min} or more.`)
      .max(max, `must be ${max} or less${unit}.`),
  );
export const boolean = z.preprocess(
  (value) => (value === 'true' || value === 'false' ? value === 'true' : value),
  z.boolean({ error: 'must be true or false.' }),
);
export const object = z
  .preprocess(asObject, z.custom<JsonObject>(isObject, 'must be an object.'))
  .meta({ type: 'object', additionalProperties: true });
