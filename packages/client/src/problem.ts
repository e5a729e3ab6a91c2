/** The problem that a refused request is answered with. */

import type { Problem } from './openapi.ts';

/** Characters of an answer that is no problem: a proxy's page. */
const DETAIL_LENGTH_MAX = 200;

/** Some messages are sentences already. */
const STOP = /\.$/;

/** An answer that is no success. `problem` says what is wrong, field by field. */
export class ProblemError extends Error {
  readonly status: number;
  readonly problem: Problem;
  readonly headers: Headers;

  constructor(problem: Problem, headers: Headers) {
    const faults = (problem.errors ?? []).map(
      ({ path, message }) => ` ${path}: ${message.replace(STOP, '')}.`,
    );
    super(`${problem.status} ${problem.title}: ${problem.detail}${faults.join('')}`);
    this.name = 'ProblemError';
    this.status = problem.status;
    this.problem = problem;
    this.headers = headers;
  }
}

/** Reads the problem of an answer, or makes one of what a proxy says. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const { headers, status, statusText } = response;
  const text = await response.text();
  const problem = headers.get('content-type')?.startsWith('application/problem+json')
    ? (JSON.parse(text) as Problem)
    : {
        type: 'about:blank',
        title: statusText,
        status,
        detail: text.slice(0, DETAIL_LENGTH_MAX),
        requestId: headers.get('x-request-id') ?? '',
      };
  return new ProblemError(problem, headers);
}
