/** The 503 of counts and long lists, while too much of that is being done. */

import type { HttpRequest, HttpResponse } from './handler.ts';
import { problem } from './problem.ts';

/** By then half of the running counts have ended, or were stopped. */
const RETRY_AFTER_SECONDS = '5';

export const tooMuchCounted = ({ requestId }: HttpRequest): HttpResponse =>
  problem(
    requestId,
    503,
    'Too many counts and lists are under way, for this client or in all. Try again.',
    { headers: { 'Retry-After': RETRY_AFTER_SECONDS } },
  );
