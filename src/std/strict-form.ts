/**
 * Forms that refuse unknown fields. A form that ignored them would lose them silently: an `expires`
 * of a tag, or a `group` beside `tags`.
 */

import { z } from 'zod';
import { foreignText } from './foreign-text.ts';
import { nearestName } from './nearest-name.ts';

/** Unknown fields that are listed for one object, and the length of each name. */
const UNKNOWN_FIELDS_MAX = 10;
const NAME_LENGTH_MAX = 64;

/** An object of this shape; unknown fields are named, each with the nearest known one. */
export function strictForm<Shape extends z.ZodRawShape>(shape: Shape) {
  const [first, ...others] = Object.keys(shape);
  const known = [first ?? '', ...others] as const;
  const sayUnknown = (name: string): string =>
    `has no field ${JSON.stringify(foreignText(name, NAME_LENGTH_MAX))}; the nearest is ${nearestName(name, known)}`;
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.slice(0, UNKNOWN_FIELDS_MAX).map(sayUnknown).join('; ')
        : 'must be an object',
  });
}
