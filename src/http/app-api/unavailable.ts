/** Answers 503 when the database cannot be reached. */

import { faultOf } from '../../store/faults.ts';
import type { HttpRequest, HttpResponse } from '../handler.ts';
import { problem } from '../problem.ts';

/** A second is what a restarted database or a drained queue needs. */
const RETRY_AFTER_SECONDS = '1';

export const unavailable = (request: HttpRequest, detail: string): HttpResponse =>
  problem(request.requestId, 503, detail, { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });

/** Runs a handler's work; what the store cannot do now becomes 503, everything else stays a surprise. */
export async function unlessUnavailable(
  request: HttpRequest,
  work: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  try {
    return await work();
  } catch (error) {
    if (faultOf(error) !== 'unavailable') throw error;
    return unavailable(request, 'The database cannot be reached. Try again.');
  }
}
