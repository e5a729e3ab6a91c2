/**
 * Reads bodies in a given form, or a 400 that lists the faults. Kept or passed-on parts must be as
 * they were written: text in UTF-8, numbers with their digits.
 */

import type { z } from 'zod';
import {
  hasTooManyValues,
  isObject,
  JSON_VALUES_MAX,
  parseJson,
} from '../../packages/std/src/json.ts';
import { changedNumbers } from '../../packages/std/src/json-numbers.ts';
import { jsonFaultPosition, positionBehind } from '../std/json-position.ts';
import { issueFaults } from '../std/strict-form.ts';
import { decodeUtf8 } from '../std/utf8.ts';
import type { HttpResponse } from './handler.ts';
import type { Fault } from './problem.ts';
import { FAULTS_MAX } from './problem.ts';
import type { Result } from './result.ts';
import { done, refuse } from './result.ts';

/** `isKept`: whether the number at a path is kept or passed on; absent: numbers are only read. */
export function readForm<T>(
  body: Buffer,
  form: z.ZodType<T>,
  isKept?: (path: readonly (string | number)[]) => boolean,
): Result<T> {
  const read = parseBody(body);
  if (!read.ok) return refuse.invalid([read.fault]);
  const parsed = form.safeParse(read.value);
  if (parsed.success) {
    const changed = isKept === undefined ? [] : changedNumbers(read.text, isKept);
    return changed.length > 0 ? refuse.invalid(changed) : done(parsed.data);
  }
  const faults = parsed.error.issues
    .slice(0, FAULTS_MAX)
    .flatMap((issue) =>
      valueAt(read.value, issue.path) === undefined ? [missing(issue)] : issueFaults(issue),
    );
  return refuse.invalid(faults);
}

/** Nothing is there: what must be is said, as of a value that is something else. */
const missing = ({ path, message }: z.core.$ZodIssue): Fault => ({
  path: path.join('.'),
  message: message.startsWith('must ') ? `is missing; it ${message}` : 'is missing',
});

/** The value at this path of the body; undefined: none, since JSON cannot express undefined. */
const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce(
    (within, key) =>
      typeof within === 'object' && within !== null && Object.hasOwn(within, key)
        ? (within as Readonly<Record<PropertyKey, unknown>>)[key]
        : undefined,
    value,
  );

/** Any JSON value with the text that it was read from, or where the body stops being one. */
function parseBody(
  body: Buffer,
):
  | { readonly ok: true; readonly value: unknown; readonly text: string }
  | { readonly ok: false; readonly fault: Fault } {
  const decoded = decodeUtf8(body);
  if (!decoded.ok) {
    const { line, column } = positionBehind(decoded.before);
    const message = `The body must be UTF-8; it is not from line ${line}, column ${column}: ${decoded.hint}.`;
    return { ok: false, fault: { path: '', message } };
  }
  const { text } = decoded;
  const value = parseJson(text);
  if (value !== undefined) return { ok: true, value, text };
  if (hasTooManyValues(text)) {
    const message = `The body has more than ${JSON_VALUES_MAX} names and values; send it in parts.`;
    return { ok: false, fault: { path: '', message } };
  }
  // The message of JSON.parse would quote the body.
  const { line, column } = jsonFaultPosition(text);
  const message = `The body must be a JSON object; it is not valid JSON from line ${line}, column ${column}.`;
  return { ok: false, fault: { path: '', message } };
}

/** A JSON object with the text that it was read from, or the one fault of a body that is none. */
export function parseObject(body: Buffer):
  | {
      readonly ok: true;
      readonly value: Readonly<Record<string, unknown>>;
      readonly text: string;
    }
  | { readonly ok: false; readonly faults: readonly Fault[] } {
  const parsed = parseBody(body);
  if (!parsed.ok) return { ok: false, faults: [parsed.fault] };
  const { value, text } = parsed;
  if (isObject(value)) return { ok: true, value, text };
  return { ok: false, faults: [{ path: '', message: 'The body must be a JSON object.' }] };
}

export const json = (value: unknown): HttpResponse => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(value),
});
