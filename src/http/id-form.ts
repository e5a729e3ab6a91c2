/** The form of an id in a body: of a tag, a group, an app, a platform. */

import { z } from 'zod';
import { isId } from '../domain/tag.ts';

const DIGITS = /^\d{1,10}$/;
export const ID_FAULT = 'must be an id: a whole number, or a string of digits';

/** A whole number, or its decimal digits in a string: both come from real clients. */
export const id = z
  .union([z.number(), z.string().regex(DIGITS).transform(Number)], ID_FAULT)
  .refine(isId, ID_FAULT);
