/** Answers that hold secrets, or what is known of people. */

import type { HttpResponse } from './handler.ts';

/** The answer is for its caller only: no cache may store it. */
export const withSecret = (response: HttpResponse): HttpResponse => ({
  ...response,
  headers: { ...response.headers, 'Cache-Control': 'no-store' },
});
