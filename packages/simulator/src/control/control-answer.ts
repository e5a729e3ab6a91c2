/** The form of the control endpoint's resources and answers. */

import { STATUS_CODES } from 'node:http';
import type { z } from 'zod';

export interface ControlAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ControlCall {
  /** The segments of the path that its pattern names. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: string;
}

/** Names after a colon match any segment of the path. */
export type ControlRoute = readonly [
  path: string,
  methods: Readonly<Record<string, (call: ControlCall) => ControlAnswer | Promise<ControlAnswer>>>,
];

export function ok(body: unknown): ControlAnswer {
  return { status: 200, body };
}

/** The answer in the form of RFC 9457. */
export function problem(
  status: number,
  detail: string,
  errors: readonly { readonly path: string; readonly message: string }[] = [],
): ControlAnswer {
  const title = STATUS_CODES[status] ?? 'Error';
  return { status, body: { type: 'about:blank', title, status, detail, errors } };
}

export function invalid(error: z.ZodError): ControlAnswer {
  const errors = error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  const [first] = errors;
  return problem(400, first === undefined ? 'Invalid' : sentence(first), errors);
}

function sentence({ path, message }: { readonly path: string; readonly message: string }): string {
  return path === '' ? message : `${path}: ${message}`;
}
