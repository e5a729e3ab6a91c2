/** Checks for malformed field sections, of requests and responses alike (RFC 9113, 8.2). */

import type { Field, FieldSection } from '../hpack/field.ts';

/** Fields about a single HTTP/1.1 connection (8.2.2). */
const CONNECTION_SPECIFIC: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);
/** 8.2.1: a token (RFC 9110, 5.6.2) without upper case. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/** 8.2.1: no NUL, CR or LF anywhere, no space or tab at either end. */
const BAD_VALUE = /^[ \t]|[ \t]$|[\0\r\n]/;
const DIGITS = /^\d{1,15}$/;

/** The fault of a field that is not a pseudo-field; null: none. */
export function faultOfField({ name, value }: Field): string | null {
  if (!NAME.test(name)) return 'a field name that is none';
  if (BAD_VALUE.test(value)) return `a value of ${name} that is none`;
  if (CONNECTION_SPECIFIC.has(name)) return `${name} belongs to HTTP/1.1`;
  if (name === 'te' && value !== 'trailers') return 'te other than trailers';
  return null;
}

/** The fault of trailers (8.1), which must not have pseudo-fields; null: none. */
export function faultOfTrailers({ fields, isTooLarge }: FieldSection): string | null {
  if (isTooLarge) return 'a field section too large';
  for (const field of fields) {
    const fault = faultOfField(field);
    if (fault !== null) return fault;
  }
  return null;
}

/**
 * Reads a `content-length` beside the one seen before (-1: none); null: it is no number, or differs
 * (8.1.1, RFC 9110, 8.6).
 */
export function contentLengthOf(value: string, before: number): number | null {
  if (!DIGITS.test(value)) return null;
  const length = Number(value);
  return before === -1 || before === length ? length : null;
}
