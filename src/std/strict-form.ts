/** Forms that refuse unknown fields: ignored ones would be lost silently. */

import { z } from 'zod';
import { foreignText } from '../../packages/std/src/foreign-text.ts';
import { nearestName } from './nearest-name.ts';

/**
 * @limit unknown fields of one object of `tag/add`, `update`, `delete` that are reported → not
 * reported
 */
const UNKNOWN_FIELDS_MAX = 10;
/** @limit the name of an unknown field of `tag/add`, `update`, `delete` → cut */
const NAME_LENGTH_MAX = 64;

const BETWEEN = '\n';

/** An object of this shape; unknown fields are named, each with the nearest known one. */
export function strictForm<Shape extends z.ZodRawShape>(shape: Shape) {
  const [first, ...others] = Object.keys(shape);
  const known = [first ?? '', ...others] as const;
  const sayUnknown = (name: string): string =>
    `is unknown; the nearest is ${nearestName(name, known)}`;
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.slice(0, UNKNOWN_FIELDS_MAX).map(sayUnknown).join(BETWEEN)
        : 'must be an object',
  });
}

/** Measured before its entries are parsed: zod makes a fault of each wrong entry, then counts. */
export const measured = <Schema extends z.ZodType>(entriesMax: number, schema: Schema) =>
  z.preprocess((value, context) => {
    if (typeof value !== 'object' || value === null) return value;
    const { length } = Array.isArray(value) ? value : Object.keys(value);
    if (length <= entriesMax) return value;
    context.addIssue({ code: 'custom', message: `must have ${entriesMax} entries at most` });
    return z.NEVER;
  }, schema);

export interface FormFault {
  /** The field, its parts joined by dots; '': the whole. */
  readonly path: string;
  /** Describes the fault: a sentence without its subject and its full stop. */
  readonly message: string;
}

/** The faults that a form has found: one for each field, unknown ones included. */
export const formFaults = ({ issues }: z.ZodError): readonly FormFault[] =>
  issues.flatMap(issueFaults);

export function issueFaults(issue: z.core.$ZodIssue): readonly FormFault[] {
  const { path, message } = issue;
  if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.'), message }];
  return message.split(BETWEEN).map((said, index) => ({
    path: [...path, foreignText(issue.keys[index] ?? '', NAME_LENGTH_MAX)].join('.'),
    message: said,
  }));
}
