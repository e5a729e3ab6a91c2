/** The 503 of what is counted in the database, while too much of that is being done. */

import type { HttpRequest, HttpResponse } from './handler.ts';
import { problem } from './problem.ts';

/** Half of what is being done then has ended, or been ended. */
const RETRY_AFTER_SECONDS = '5';

export const tooMuchCounted = ({ requestId }: HttpRequest): HttpResponse =>
  problem(requestId, 503, 'Too many counts are running, for this client or in all. Try again.', {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  });
