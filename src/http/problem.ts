/** RFC 9457 problem answers: the one form of every error but those of `reg`, `ureg` and `set`. */

import type { HttpResponse } from './handler.ts';

export interface Fault {
  /** Where in the request: `payload.title`, `tagIds.3`; '' for the whole. */
  readonly path: string;
  readonly message: string;
  /** Where in a text, in UTF-16 code units from 0. */
  readonly position?: number;
}

/**
 * After correcting so many, a caller asks again.
 * @limit faults that an answer lists → left out
 */
export const FAULTS_MAX = 100;
/**
 * They may quote what the caller wrote.
 * @limit the path and the message of each such fault → cut
 */
const FAULT_TEXT_LENGTH_MAX = 1_024;

export const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** `detail`: a sentence for the caller, never a stack or a secret. Faults are bounded here. */
export function problem(
  requestId: string,
  status: number,
  detail: string,
  more: {
    readonly errors?: readonly Fault[];
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): HttpResponse {
  const body = {
    type: 'about:blank',
    title: TITLES[status] ?? 'Error',
    status,
    detail,
    ...(more.errors === undefined
      ? {}
      : { errors: more.errors.slice(0, FAULTS_MAX).map(shortened) }),
    requestId,
  };
  return {
    status,
    headers: { 'Content-Type': 'application/problem+json', ...more.headers },
    body: JSON.stringify(body),
  };
}

const shortened = ({ path, message, ...more }: Fault): Fault => ({
  path: cut(path),
  message: cut(message),
  ...more,
});

const cut = (text: string): string =>
  text.length <= FAULT_TEXT_LENGTH_MAX
    ? text
    : `${text.slice(0, FAULT_TEXT_LENGTH_MAX - 1).toWellFormed()}…`;
