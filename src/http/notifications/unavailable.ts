/** The answer while the database is away: nothing was made durable, so nothing is promised. */

import type { Logger } from 'pino';
import { faultOf } from '../../store/faults.ts';
import type { HttpRequest, HttpResponse } from '../handler.ts';
import { problem } from '../problem.ts';

/** A database that restarts is back in seconds. */
const RETRY_AFTER_SECONDS = '2';

/** Runs a handler; its answer is 503 when the database cannot be reached. Everything else it throws is thrown on. */
export async function orUnavailable(
  request: HttpRequest,
  log: Logger,
  handle: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await handle();
  } catch (error) {
    const fault = faultOf(error);
    if (fault !== 'unavailable' && fault !== 'conflict') throw error;
    log.warn({ err: error, requestId: request.requestId }, 'the database is not available');
    return problem(request.requestId, 503, 'The request could not be stored. Try again.', {
      headers: { 'Retry-After': RETRY_AFTER_SECONDS },
    });
  }
}
