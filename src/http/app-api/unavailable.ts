/** The 503 of registrations that cannot be taken or made durable just now. */

import type { HttpRequest, HttpResponse } from '../handler.ts';
import { problem } from '../problem.ts';

/** A second is what a restarted database or a drained queue needs. */
const RETRY_AFTER_SECONDS = '1';

export const unavailable = (request: HttpRequest, detail: string): HttpResponse =>
  problem(request.requestId, 503, detail, { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
