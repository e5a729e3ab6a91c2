/** What several routes of the console's own API answer. */

import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { problem } from '../../http/problem.ts';
import type { Unheard } from '../accounts/sign-in.ts';

/** The queue of passwords is through in a few seconds. */
const BUSY_RETRY_AFTER_SECONDS = '3';

/** 429 or 503: nobody looked at the password. */
export function unheard(request: HttpRequest, refusal: Unheard): HttpResponse {
  if (refusal.kind === 'busy') {
    return problem(request.requestId, 503, 'Too many passwords are being checked. Try again.', {
      headers: { 'Retry-After': BUSY_RETRY_AFTER_SECONDS },
    });
  }
  const seconds = Math.ceil(refusal.retryAfterMs / 1_000);
  return problem(
    request.requestId,
    429,
    `Too many passwords were tried from this address. Try again in ${seconds} s.`,
    { headers: { 'Retry-After': String(seconds) } },
  );
}
