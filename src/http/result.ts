/** The result of a handler: done, or refused. One function makes the answer to a refusal. */

import type { OverLimit } from '../domain/client-limits.ts';
import { overLimitSentence } from '../domain/client-limits.ts';
import type { HttpRequest, HttpResponse } from './handler.ts';
import type { Fault } from './problem.ts';
import { problem } from './problem.ts';

type Beside = Omit<HttpResponse, 'status' | 'body'>;

export interface Done<Value> {
  readonly ok: true;
  readonly value: Value;
  readonly beside: Beside;
}

export interface Refusal {
  readonly ok: false;
  readonly status: number;
  readonly detail: string;
  readonly errors?: readonly Fault[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly beyondLimit?: HttpResponse['beyondLimit'];
}

export type Result<Value> = Done<Value> | Refusal;

export const done = <Value>(value: Value, beside: Beside = {}): Done<Value> => ({
  ok: true,
  value,
  beside,
});

export const refused = (
  status: number,
  detail: string,
  more: Omit<Refusal, 'ok' | 'status' | 'detail'> = {},
): Refusal => ({ ok: false, status, detail, ...more });

/** Until then half of the running counts have ended, or were stopped. */
const COUNTED_RETRY_AFTER_SECONDS = '5';

/** Until then those that wait now have been evaluated, or have given up. */
const TEMPLATES_RETRY_AFTER_SECONDS = '5';

export const refuse = {
  /** 400 with the list of faults. */
  invalid: (errors: readonly Fault[]) => refused(400, 'The request is not valid.', { errors }),
  unknown: (what: string) => refused(404, `This client has no ${what} with this id.`),
  /** The 403 of a client that has as much as it may; it is counted by the limit. */
  overLimit: (over: OverLimit) => refused(403, overLimitSentence(over), { beyondLimit: over.name }),
  /** The 403 of a limited key. `path`: the entry of the request that it is not for. */
  outside: (path = '') =>
    refused(403, `${path === '' ? 'This' : path} is outside of what this key is for.`),
  tooMuchCounted: refused(
    503,
    'Too many counts and lists are under way, for this client or in all. Try again.',
    { headers: { 'Retry-After': COUNTED_RETRY_AFTER_SECONDS } },
  ),
  tooManyTemplates: refused(
    503,
    'Templates cannot be evaluated in time: too many are being evaluated, for this client or in all, or the machine is busy. Try again.',
    { headers: { 'Retry-After': TEMPLATES_RETRY_AFTER_SECONDS } },
  ),
};

export function answerRefusal(
  { requestId }: Pick<HttpRequest, 'requestId'>,
  { status, detail, errors, headers, beyondLimit }: Refusal,
): HttpResponse {
  const answer = problem(requestId, status, detail, {
    ...(errors === undefined ? {} : { errors }),
    ...(headers === undefined ? {} : { headers }),
  });
  return beyondLimit === undefined ? answer : { ...answer, beyondLimit };
}
