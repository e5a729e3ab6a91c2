/** The 503 for counts in the database, while too many counts are running. */

import type { HttpRequest, HttpResponse } from './handler.ts';
import { problem } from './problem.ts';

/** By then half of the running counts have ended, or were stopped. */
const RETRY_AFTER_SECONDS = '5';

export const tooMuchCounted = ({ requestId }: HttpRequest): HttpResponse =>
  problem(requestId, 503, 'Too many counts are running, for this client or in all. Try again.', {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  });
