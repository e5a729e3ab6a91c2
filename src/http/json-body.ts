/**
 * Bodies of the APIs that tell what is wrong with them: JSON in a form, or a 400 that lists every
 * fault.
 */

import type { z } from 'zod';
import { parseJson } from '../std/json.ts';
import { jsonFaultPosition } from '../std/json-position.ts';
import type { HttpRequest, HttpResponse } from './handler.ts';
import type { Fault } from './problem.ts';
import { problem } from './problem.ts';

export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly response: HttpResponse };

/** Faults told of one request: a body of 1 MiB has room for half a million. */
const FAULTS_MAX = 100;

/** Reads the body in the given form. */
export function readJsonBody<T>(request: HttpRequest, form: z.ZodType<T>): Read<T> {
  const read = parseBody(request.body);
  if (!read.ok) return { ok: false, response: invalid(request, [read.fault]) };
  const parsed = form.safeParse(read.value);
  if (parsed.success) return { ok: true, value: parsed.data };
  const faults = parsed.error.issues.slice(0, FAULTS_MAX).map(({ path, message }) => ({
    path: path.join('.'),
    message: valueAt(read.value, path) === undefined ? 'is missing' : message,
  }));
  return { ok: false, response: invalid(request, faults) };
}

/** What the body has at this path; undefined: nothing, for JSON has no word for that. */
const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce(
    (within, key) =>
      typeof within === 'object' && within !== null && Object.hasOwn(within, key)
        ? (within as Readonly<Record<PropertyKey, unknown>>)[key]
        : undefined,
    value,
  );

/** Any JSON value, or where the body stops being one. */
export function parseBody(
  body: Buffer,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: Fault } {
  const text = body.toString('utf8');
  const value = parseJson(text);
  if (value !== undefined) return { ok: true, value };
  // JSON.parse's own words quote the body.
  const { line, column } = jsonFaultPosition(text);
  const message = `The body must be a JSON object; it is not valid JSON from line ${line}, column ${column}.`;
  return { ok: false, fault: { path: '', message } };
}

/** 400 with the list of faults. */
export const invalid = (request: HttpRequest, errors: readonly Fault[]): HttpResponse =>
  problem(request.requestId, 400, 'The request is not valid.', { errors });

/** 200 with JSON. */
export const json = (value: unknown): HttpResponse => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(value),
});
