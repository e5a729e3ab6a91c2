/** The 503 for registrations that cannot be accepted or made durable at the moment. */

import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { problem } from '../../http/problem.ts';

/** A restarted database or a drained queue is ready after about a second. */
const RETRY_AFTER_SECONDS = '1';

export const unavailable = (request: HttpRequest, detail: string): HttpResponse =>
  problem(request.requestId, 503, detail, { headers: { 'Retry-After': RETRY_AFTER_SECONDS } });
